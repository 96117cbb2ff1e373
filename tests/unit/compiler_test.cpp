#include "compiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace teeny::tool {
namespace {

using Words = std::vector<std::string>;

CompileJob triton_job() {
  CompileJob job;
  job.compiler = "/opt/teenyc";
  job.directory = "/private";
  job.stem = "add_00";
  return job;
}

bool has(const Command& command, const std::string& variable) {
  const Words& all = command.environment;
  return std::find(all.begin(), all.end(), variable) != all.end();
}

bool names(const Command& command, const std::string& name) {
  return std::any_of(command.environment.begin(), command.environment.end(),
                     [&](const std::string& v) { return v.rfind(name + "=", 0) == 0; });
}

// Argument by argument what the Rust runtime's LlvmCompiler gives.
TEST(CompilerCommand, TritonIsTheRustRuntimes) {
  CompileJob job = triton_job();
  const Words expected = {"/opt/teenyc",
                          "/private/add_00.rs",
                          "-Copt-level=3",
                          "-Zcodegen-backend=mlir",
                          "--emit=obj",
                          "-o/private/add_00.o",
                          "--target=nvptx64-nvidia-cuda",
                          "--crate-type=lib",
                          "-C",
                          "overflow-checks=off",
                          "--frontend=triton"};
  EXPECT_EQ(compiler_command(job).arguments, expected);
  EXPECT_EQ(compiler_command(job).working_directory, "/private");
  job.arch = "sm_90a";
  job.options = {"-Cdebuginfo=1", "a b"};
  Words more = expected;
  more.insert(more.end(), {"-Ctarget-cpu=sm_90a", "-Cdebuginfo=1", "a b"});
  EXPECT_EQ(compiler_command(job).arguments, more);
  job.launcher = {"icecc", "-x"};
  more.insert(more.begin(), {"icecc", "-x"});
  EXPECT_EQ(compiler_command(job).arguments, more);
}

TEST(CompilerCommand, TritonEnvironment) {
  ::setenv("TEENYC_PTX_VERSION", "-5", 1);
  ::setenv("RUSTC_LOG", "everything", 1);
  ::setenv("RUSTC_BOOTSTRAP", "0", 1);
  ::setenv("TEENY_HOSTILE", "1", 1);
  CompileJob job = triton_job();
  Command command = compiler_command(job);
  EXPECT_TRUE(has(command, "RUSTC_BOOTSTRAP=1"));
  EXPECT_TRUE(has(command, "RUSTC_ICE=0"));
  EXPECT_TRUE(has(command, "TMPDIR=/private"));
  for (const char* const name : {"TEENYC_PTX_VERSION", "RUSTC_LOG", "TEENY_HOSTILE"}) {
    EXPECT_FALSE(names(command, name)) << name;
  }
  job.ptx_version = 82;
  job.log_level = LogLevel::debug;
  job.pass_environment = {"TEENY_HOSTILE"};
  command = compiler_command(job);
  EXPECT_TRUE(has(command, "TEENYC_PTX_VERSION=82"));
  EXPECT_TRUE(has(command, "RUSTC_LOG=rustc_codegen_llvm::mlir=debug"));
  EXPECT_TRUE(has(command, "TEENY_HOSTILE=1"));
  job = triton_job();
  job.launcher = {"icecc"};
  EXPECT_TRUE(names(compiler_command(job), "TEENY_HOSTILE"));
}

TEST(CompilerCommand, PlainRust) {
  CompileJob job = triton_job();
  job.frontend = Frontend::rust;
  job.arch = "sm_80";
  job.ptx_version = 82;
  const Words expected = {"/opt/teenyc",
                          "/private/add_00.rs",
                          "-Copt-level=3",
                          "--emit=asm",
                          "-o/private/add_00.o",
                          "--target=nvptx64-nvidia-cuda",
                          "--crate-type=lib",
                          "-C",
                          "overflow-checks=off",
                          "-Ctarget-cpu=sm_80",
                          "-Ctarget-feature=+ptx82",
                          "--edition=2021"};
  EXPECT_EQ(compiler_command(job).arguments, expected);
  job.options = {"--edition=2024"};
  Words other = expected;
  other.back() = "--edition=2024";
  EXPECT_EQ(compiler_command(job).arguments, other);
}

TEST(CompilerCommand, ColoursOnlyWhereTheUserDoesNotDecide) {
  CompileJob job = triton_job();
  job.colours = Colours::always;
  EXPECT_EQ(compiler_command(job).arguments.back(), "--color=always");
  job.options = {"--error-format=json"};
  EXPECT_EQ(compiler_command(job).arguments.back(), "--error-format=json");
  EXPECT_EQ(compiler_command(job).arguments.size(), 12U);
}

TEST(PassedEnvironment, NamesSortedOnce) {
  ::setenv("TEENY_PASS_ENVIRONMENT", " B,A;;B C ", 1);
  EXPECT_EQ(passed_environment(), (Words{"A", "B", "C"}));
  ::unsetenv("TEENY_PASS_ENVIRONMENT");
  EXPECT_TRUE(passed_environment().empty());
}

}  // namespace
}  // namespace teeny::tool
