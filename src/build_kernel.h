// The use case: one kernel for one architecture, from the cache or compiled, delivered.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compile_cache.h"
#include "kernel_spec.h"
#include "log_level.h"

namespace teeny::tool {

/// Whether an entry that is there may be used.
enum class Reuse { allowed, forced_compile };

struct BuildRequest {
  KernelSpec spec;
  std::filesystem::path output;       ///< the image: PTX without debug sections
  std::filesystem::path stamp;        ///< written last; may be empty
  std::filesystem::path mlir_output;  ///< copy of the `.mlir`; may be empty
  std::string compiler;               ///< a path, NONE, or empty: find_compiler()
  std::vector<std::string> launcher;
  std::string cache_directory;  ///< empty: cache_directory()'s rule
  CacheSharing sharing = CacheSharing::user;
  std::optional<LogLevel> log_level;
  Reuse reuse = Reuse::allowed;
  std::filesystem::path keep;             ///< where a failed compile's files go; may be empty
  std::vector<std::string> command_line;  ///< of this program, for the message of a failure
};

/// Removes output and stamp first; they are there again only when all is well. Whatever is wrong
/// with the cache is one warning and a compile without it. Throws Error: `kernel` when it does not
/// compile, `environment` when there is no compiler or the output can't be written.
void build_kernel(const BuildRequest& request);

}  // namespace teeny::tool
