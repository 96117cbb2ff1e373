#include "rust_project.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "temporary_directory.h"

namespace teeny::tool {
namespace {

TEST(RustProject, ACratePerKernelWhoseRootIncludesItsFiles) {
  const TemporaryDirectory directory;
  const auto prelude = directory.path() / "prelude.rs";
  write_file(prelude, "#![no_core]");
  TargetKernel kernel;
  kernel.name = "k";
  kernel.prelude = prelude.string();
  kernel.sources = {"/src/a \"b\".rs", "/src/sub/c.rs"};
  TargetKernel whole = kernel;
  whole.name = "whole";
  whole.prelude = "NONE";
  const TargetManifest manifest{"app", "app_kernels", {}, {}, {kernel, whole}};

  const auto files = rust_project({manifest}, "/build/rust-project.json");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].first, "/build/teeny-rust-project/app/k.rs");
  EXPECT_EQ(files[0].second.substr(0, 12), "#![no_core]\n");
  EXPECT_NE(
      files[0].second.find("include!(\"/src/a \\\"b\\\".rs\");\ninclude!(\"/src/sub/c.rs\");\n"),
      std::string::npos);
  const auto json = nlohmann::json::parse(files[1].second);
  EXPECT_EQ(json["crates"][0]["root_module"], "/build/teeny-rust-project/app/k.rs");
  EXPECT_EQ(json["crates"][0]["source"]["include_dirs"],
            (nlohmann::json{"/build/teeny-rust-project/app", "/src", "/src/sub"}));
  EXPECT_EQ(json["crates"][1]["root_module"], "/src/a \"b\".rs");
}

}  // namespace
}  // namespace teeny::tool
