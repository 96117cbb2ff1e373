#include "atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "error.h"

namespace teeny::tool {

namespace {

std::filesystem::path temporary_name(const std::filesystem::path& destination) {
  static std::random_device random;
  char suffix[17];
  std::snprintf(suffix, sizeof suffix, "%08x%08x", random(), random());
  std::filesystem::path name = destination;
  name += k_temporary_infix;
  name += suffix;
  return name;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path destination, std::string_view bytes,
                       Durability durability, std::optional<mode_t> mode)
    : destination_(std::move(destination)) {
  const std::filesystem::path name = temporary_name(destination_);
  FileDescriptor fd = open_file(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  temporary_ = name;
  try {
    if (mode && ::fchmod(fd.get(), *mode) != 0) {
      const int code = errno;
      throw SystemError(code, "fchmod", name.string());
    }
    write_all(fd.get(), bytes, name);
    if (durability == Durability::sync && ::fdatasync(fd.get()) != 0 && errno != EINVAL) {
      const int code = errno;
      throw SystemError(code, "fdatasync", name.string());
    }
    fd.close(name.native());
  } catch (...) {
    ::unlink(name.c_str());
    throw;
  }
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : destination_(std::move(other.destination_)),
      temporary_(std::exchange(other.temporary_, std::filesystem::path())) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  if (::rename(temporary_.c_str(), destination_.c_str()) != 0) {
    const int code = errno;
    throw SystemError(code, "rename", temporary_.string() + " -> " + destination_.string());
  }
  temporary_.clear();
}

void write_file_atomically(const std::filesystem::path& destination, std::string_view bytes,
                           Durability durability) {
  AtomicFile(destination, bytes, durability).commit();
}

}  // namespace teeny::tool
