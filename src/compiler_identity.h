// Which compiler it is, by content: two compilers with one identity write the same bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace teeny::tool {

/// The real compiler behind `path`: symbolic links are followed, and a rustup proxy is asked for
/// the binary it stands for. Throws Error(environment) when there is no such program.
[[nodiscard]] std::filesystem::path resolve_compiler(const std::filesystem::path& path);

/// The files whose content decides what `compiler` (resolved) does: the binary, the shared
/// libraries of its toolchain, the device libraries for nvptx64. For a wrapper script also those of
/// the toolchain that it names when asked for its sysroot.
[[nodiscard]] std::vector<std::filesystem::path> toolchain_files(
    const std::filesystem::path& compiler);

/// Lower-case hex SHA-256 over names and content digests of toolchain_files(). Independent of where
/// the toolchain lies. The digests are remembered per user and host, by device, inode, size, mtime
/// and ctime of every file; one that changed in the last 2 s is not trusted to stay as it is.
[[nodiscard]] std::string compiler_identity(const std::filesystem::path& compiler);

}  // namespace teeny::tool
