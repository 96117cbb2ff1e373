#include "atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "error.h"
#include "temporary_directory.h"

namespace teeny::tool {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), {}));
}

TEST(AtomicFile, AppearsOnCommitAlone) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "file";
  {
    const AtomicFile dropped(path, "x", Durability::sync);
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(files_in(directory.path()), 0U);
  AtomicFile file(path, "content", Durability::sync);
  file.commit();
  EXPECT_EQ(read_file(path), "content");
  EXPECT_EQ(files_in(directory.path()), 1U);
}

TEST(AtomicFile, FailureLeavesNothing) {
  const TemporaryDirectory directory;
  fs::create_directory(directory.path() / "taken");
  AtomicFile file(directory.path() / "taken", "x", Durability::none);
  EXPECT_THROW(file.commit(), SystemError);
  EXPECT_THROW(AtomicFile(directory.path() / "no" / "file", "x", Durability::none), SystemError);
}

TEST(AtomicFile, TheUsersUmaskOrAnExactMode) {
  const TemporaryDirectory directory;
  const mode_t before = ::umask(077);
  write_file_atomically(directory.path() / "plain", "x", Durability::none);
  AtomicFile(directory.path() / "group", "x", Durability::none, 0664).commit();
  ::umask(before);
  struct stat status {};
  ::stat((directory.path() / "plain").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  ::stat((directory.path() / "group").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777U, 0664U);
}

}  // namespace
}  // namespace teeny::tool
