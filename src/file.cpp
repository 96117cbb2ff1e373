#include "file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "error.h"

namespace teeny::tool {

namespace {

[[noreturn]] void fail(std::string_view operation, const std::filesystem::path& path) {
  const int code = errno;
  throw SystemError(code, operation, path.string());
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void FileDescriptor::close(std::string_view path) {
  // Linux frees the descriptor even when close() says EINTR: it must not be tried again.
  if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail("close", path);
}

FileDescriptor open_file(const std::filesystem::path& path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) fail("open", path);
  return FileDescriptor(fd);
}

std::string read_all(int fd, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail("fstat", path);
  std::string bytes;
  // One byte more than the size, so that the end is seen without growing the buffer.
  constexpr std::size_t k_least = 4096;
  bytes.resize(S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) + 1 : k_least);
  std::size_t used = 0;
  while (true) {
    const ssize_t got = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
  }
  bytes.resize(used);
  return bytes;
}

std::string read_file(const std::filesystem::path& path) {
  const FileDescriptor fd = open_file(path, O_RDONLY);
  return read_all(fd.get(), path);
}

void write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  FileDescriptor fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  write_all(fd.get(), bytes, path);
  fd.close(path.native());
}

void remove_file(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail("unlink", path);
}

PrivateDirectory::PrivateDirectory(const std::filesystem::path& parent, std::string_view prefix) {
  std::string name = (parent / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) fail("mkdtemp", name);
  path_ = name;
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path temporary_root() {
  std::error_code failed;
  std::filesystem::path root = std::filesystem::temp_directory_path(failed);
  if (failed) root = "/tmp";
  return std::filesystem::absolute(root);
}

}  // namespace teeny::tool
