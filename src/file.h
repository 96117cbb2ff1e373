// File descriptors, whole-file reads and writes, private directories. Every failure is a
// SystemError that names the call and the path.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace teeny::tool {

/// Owns a file descriptor; -1 means none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  void reset() noexcept;
  /// Closes and reports what close() says: a network file system reports a full disk only here.
  void close(std::string_view path);

 private:
  int fd_ = -1;
};

/// open() with O_CLOEXEC added, retried on EINTR.
[[nodiscard]] FileDescriptor open_file(const std::filesystem::path& path, int flags,
                                       mode_t mode = 0);

/// All bytes from the descriptor's position to its end. `path` is for the message only.
[[nodiscard]] std::string read_all(int fd, const std::filesystem::path& path);

/// The whole content of a file.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Writes all of `bytes`, retrying short writes.
void write_all(int fd, std::string_view bytes, const std::filesystem::path& path);

/// Creates or truncates `path` and writes `bytes`. For files nobody else looks at; see AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Removes a file; a file that is not there is no error.
void remove_file(const std::filesystem::path& path);

/// A new directory that only this user can enter (0700), removed with its content at the end of
/// its life unless kept.
class PrivateDirectory {
 public:
  /// Created below `parent`, with a random name that starts with `prefix`.
  PrivateDirectory(const std::filesystem::path& parent, std::string_view prefix);
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  ~PrivateDirectory();
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Where private directories go: $TMPDIR if it is a usable directory, else /tmp.
[[nodiscard]] std::filesystem::path temporary_root();

}  // namespace teeny::tool
