// The command lines of the compilers, and one run of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "frontend.h"
#include "log_level.h"
#include "subprocess.h"

namespace teeny::tool {

/// Whether the compiler is told to colour its messages, which it writes to a pipe.
enum class Colours { compilers_choice, always };

/// One compile.
struct CompileJob {
  Frontend frontend = Frontend::triton;
  std::filesystem::path compiler;            ///< the real binary
  std::vector<std::string> launcher;         ///< put before the compiler; usually empty
  std::filesystem::path directory;           ///< private, absolute; input, outputs, TMPDIR and cwd
  std::string stem;                          ///< `<function>_<key>`
  std::string text;                          ///< the whole Rust text
  std::string arch;                          ///< such as sm_90; empty: the compiler's default
  std::optional<std::uint32_t> ptx_version;  ///< major * 10 + minor
  std::vector<std::string> options;          ///< of the user, last on the command line
  std::optional<LogLevel> log_level;
  Colours colours = Colours::compilers_choice;
  std::vector<std::string> pass_environment;  ///< names of TEENY_PASS_ENVIRONMENT
};

/// What a successful compiler left.
struct CompilerOutput {
  std::string object;               ///< PTX text
  std::optional<std::string> mlir;  ///< the `.mlir` beside it
  std::string diagnostics;          ///< its standard error
  double seconds = 0;               ///< wall time
};

/// The command of a job. For `triton`, argument by argument that of the Rust runtime's
/// LlvmCompiler; only the folder and the `-o` name differ. For `rust`, a stock rustc that emits
/// assembly, which for nvptx64 is PTX; the edition is 2021 unless an option says otherwise.
[[nodiscard]] Command compiler_command(const CompileJob& job);

/// Writes the text to `<directory>/<stem>.rs` and runs the command. A compiler that fails,
/// and one that exits with 0 and no output file, are CompileFailed; a compiler that can't be
/// started is a SystemError.
[[nodiscard]] CompilerOutput run_compiler(const CompileJob& job);

/// Names in $TEENY_PASS_ENVIRONMENT, which are separated by commas, semicolons or spaces.
[[nodiscard]] std::vector<std::string> passed_environment();

}  // namespace teeny::tool
