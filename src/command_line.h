// The program's arguments as data.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "build_kernel.h"
#include "inspect.h"

namespace teeny::tool {

enum class Subcommand {
  compile,
  source,
  key,
  declare,
  embed,
  inspect,
  prelude,
  find_compiler,
  rust_project,
  cache_stats,
  cache_verify,
  cache_prune,
  cache_clear,
  cache_explain,
};

struct Options {
  Subcommand subcommand = Subcommand::compile;
  BuildRequest build;              ///< compile; `spec` and `compiler` also for source and key
  std::filesystem::path manifest;  ///< declare, embed
  std::vector<std::filesystem::path> manifests;  ///< rust-project
  std::filesystem::path output;                  ///< declare, embed, prelude
  std::filesystem::path stamp;                   ///< declare, embed
  std::vector<std::filesystem::path> files;      ///< inspect
  ReportFormat format = ReportFormat::table;
  std::filesystem::path from;                   ///< prelude
  bool repair = false;                          ///< cache verify
  std::optional<std::uint64_t> max_bytes;       ///< cache prune
  std::optional<std::chrono::seconds> max_age;  ///< cache prune
};

/// Reads the arguments (without a shell's help: `--opt=value` and `--opt value` are the same) and
/// the environment variables that are their defaults. Empty when help or the version was asked for,
/// which is then printed to standard output. Throws Error(usage).
[[nodiscard]] std::optional<Options> parse_command_line(const std::vector<std::string>& arguments);

/// $TEENYC_LOG_LEVEL and $TEENYC_PTX_VERSION (a plain number such as 82, as the Rust runtime reads
/// it). A value that can't be read is warned about and ignored.
[[nodiscard]] std::optional<LogLevel> log_level_from_environment();
[[nodiscard]] std::optional<std::uint32_t> ptx_version_from_environment();

}  // namespace teeny::tool
