#include "target_manifest.h"

#include <gtest/gtest.h>

#include "declare.h"
#include "embed.h"
#include "error.h"
#include "temporary_directory.h"

namespace teeny::tool {
namespace {

constexpr const char* k_json =
    R"({"target": "my-app", "namespace": "ns", "visibility": "hidden", "embed": "incbin",
 "directory": "/d", "configuration_directory": "/d/Debug",
 "kernels": [
  {"name": "b", "frontend": "rust", "function": "", "types": [], "constants": [], "prelude": "NONE",
   "sources": ["/d/b.rs"], "per_configuration": true,
   "images": ["b.sm_80.ptx", "b.sm_90.ptx"]},
  {"name": "a", "frontend": "triton", "function": "f", "types": ["f32"],
   "constants": ["N=1"], "prelude": "NONE", "sources": ["/d/a.rs", "/d/a2.rs"], "per_configuration": false,
   "images": ["a.sm_90.ptx"]}
]})";

class TargetManifestTest : public testing::Test {
 protected:
  TargetManifest read(const std::string& json) {
    write_file(directory.path() / "m.json", json);
    return read_target_manifest(directory.path() / "m.json");
  }
  TemporaryDirectory directory;
};

TEST_F(TargetManifestTest, KernelsSortedByName) {
  const TargetManifest manifest = read(k_json);
  ASSERT_EQ(manifest.kernels.size(), 2U);
  EXPECT_EQ(manifest.kernels[0].name, "a");
  EXPECT_EQ(manifest.kernels[0].images[0], "/d/a.sm_90.ptx");
  EXPECT_EQ(manifest.kernels[1].images[1], "/d/Debug/b.sm_90.ptx");
}

TEST_F(TargetManifestTest, WhatIsNoManifestIsRefused) {
  for (
      const char* const json :
      {"", "{}", "[]",
       R"({"target": 1, "namespace": "n", "visibility": "x", "embed": "incbin", "kernels": []})",
       R"({"target": "t", "namespace": "n", "visibility": "hidden", "embed": "incbin", "directory": "/d", "kernels":
           [{"name": "k", "frontend": "c", "function": "", "types": [], "constants": [], "prelude": "NONE", "sources": [], "per_configuration": false, "images": ["i"]}]})"}) {
    EXPECT_THROW((void)read(json), Error) << json;
  }
}

TEST_F(TargetManifestTest, ArrayNamesNeverMeet) {
  EXPECT_EQ(image_array_name("app"), "images_of_app");
  EXPECT_NE(image_array_name("a-b"), image_array_name("a_b"));
  EXPECT_NE(image_array_name("a-b"), image_array_name("a_2db"));
}

TEST_F(TargetManifestTest, HeaderHasTheSignaturesAndNothingOfTheBodies) {
  const std::string folder = directory.path().string();
  const std::string json = R"({"target": "my-app", "namespace": "ns", "visibility": "hidden",
 "embed": "incbin", "directory": "/d", "kernels": [
  {"name": "plain", "frontend": "rust", "function": "", "types": [], "constants": [], "prelude": "NONE",
   "sources": [")" + folder +
                           R"(/b.rs"], "per_configuration": true, "images": ["b1", "b2"]},
  {"name": "a", "frontend": "triton", "function": "add", "types": ["f32"], "constants": ["N=8"], "prelude": "NONE",
   "sources": [")" + folder +
                           R"(/a.rs"], "per_configuration": false, "images": ["a"]}]})";
  write_file(directory.path() / "b.rs",
             "#[no_mangle]\npub unsafe extern \"ptx-kernel\" fn b(n: u32, _on: bool, x: *const f64,"
             " y: *mut Foo, z: usize) { one() }\n");
  write_file(directory.path() / "a.rs",
             "#[kernel]\npub fn add<T: Triton, D: Num, const N: i32>(x: In<T::Pointer<D>>, y:"
             " T::Pointer<D>, n: i32) {}\n");
  const std::string header = declare_kernels(read(json));
  for (const char* const part :
       {"namespace ns {", "ImageData images_of_my_2dapp[3]", "Kernel(\"a\", {k_images + 0, 1})",
        "Kernel(\"plain\", {k_images + 1, 2})",
        "/// b(n: u32, _on: bool, x: *const f64, y: *mut Foo, z: usize) of b.rs\n",
        "TypedKernel<std::uint32_t, bool, ::teeny::DevicePointer<const double>, "
        "::teeny::DevicePointer<void>, std::uint64_t> plain(\n    detail::k_kernels[1], 0)",
        "/// add(x: *const f32, y: *mut f32, n: i32) of a.rs\n",
        "TypedKernel<::teeny::DevicePointer<const float>, ::teeny::DevicePointer<float>, "
        "std::int32_t> a(\n    detail::k_kernels[0], 2)"}) {
    EXPECT_NE(header.find(part), std::string::npos) << part << "\n" << header;
  }
  EXPECT_EQ(header.find(folder), std::string::npos);
  write_file(directory.path() / "b.rs",
             "// other\n#[no_mangle]\npub unsafe extern \"ptx-kernel\" fn b(n: u32, _on: bool,\n"
             " x: *const f64, y: *mut Foo, z: usize) { another() }\n");
  EXPECT_EQ(declare_kernels(read(json)), header);
}

TEST_F(TargetManifestTest, EmbeddingNamesDigestAndMetadata) {
  const std::string path = (directory.path() / "sub").string();
  std::filesystem::create_directory(path);
  write_file(path + "/k.ptx",
             ".version 8.0\n.target sm_90a\n.visible .entry k_entry_point()\n.reqntid 64\n{\n}\n");
  const TargetManifest manifest = read(
      R"({"target": "t", "namespace": "n", "visibility": "hidden", "embed": "incbin", "directory": ")" +
      path +
      R"(", "kernels": [{"name": "k", "frontend": "triton", "function": "", "types": [], "constants": [], "prelude": "NONE", "sources": [],
          "per_configuration": false, "images": ["k.ptx"]}]})");
  const std::string text = embed_kernels(manifest);
  // sha256sum of the file, its size; suffix, capability, PTX version, warps.
  for (const std::string& part :
       {std::string(".incbin \\\"") + path + "/k.ptx\\\"",
        std::string("74cf72ebd84338ed52a35f9add63e2691f64768f869bf4b4f908c53ebc04a201"),
        std::string("images_of_t_0, 76U"),
        std::string("\"k_entry_point\", 0U, 'a', 90U, 80U, 2U")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  TargetManifest literal = manifest;
  literal.embed = EmbedMethod::literal;
  const std::string other = embed_kernels(literal);
  EXPECT_NE(other.find("\\n.target sm_90a\\n.visible"), std::string::npos) << other;
  EXPECT_EQ(other.find(".incbin"), std::string::npos);
  write_file(path + "/k.ptx", "");
  EXPECT_THROW((void)embed_kernels(manifest), Error);
}

}  // namespace
}  // namespace teeny::tool
