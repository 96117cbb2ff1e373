// A file that others see whole or not at all: written under an exclusive random name in the
// directory of its destination, then renamed.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "file.h"

namespace teeny::tool {

/// Whether the bytes are on the disk before the name is.
enum class Durability { none, sync };

/// The part of every temporary's name by which `cache prune` knows it: `<name>.tmp.<random>`.
inline constexpr std::string_view k_temporary_infix = ".tmp.";

/// Writes `bytes` to a temporary beside `destination` and renames it there on commit(). Dropped
/// without commit() it removes the temporary, and the destination is untouched.
class AtomicFile {
 public:
  /// `mode`: exact permission bits; by default 0666 less the umask, as any tool's output.
  /// Throws SystemError; then nothing is left behind.
  AtomicFile(std::filesystem::path destination, std::string_view bytes, Durability durability,
             std::optional<mode_t> mode = std::nullopt);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// rename(2): replaces what stands at the destination.
  void commit();

 private:
  std::filesystem::path destination_;
  std::filesystem::path temporary_;  // empty: nothing to remove
};

/// Writes and commits at once.
void write_file_atomically(const std::filesystem::path& destination, std::string_view bytes,
                           Durability durability);

}  // namespace teeny::tool
