#include "file_lock.h"

#include <gtest/gtest.h>
#include <sys/file.h>

#include <atomic>
#include <thread>

#include "temporary_directory.h"

namespace teeny::tool {
namespace {

using std::chrono::milliseconds;

TEST(FileLock, OneHolderAtATime) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "lock";
  std::atomic<int> inside = 0;
  std::atomic<int> entered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto lock = FileLock::acquire(path, std::nullopt, {});
      ASSERT_TRUE(lock.has_value());
      EXPECT_EQ(++inside, 1);
      ++entered;
      std::this_thread::yield();
      --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(entered, 8);
}

TEST(FileLock, WaiterIsToldWhoHoldsItAndGivesUpInTheEnd) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "lock";
  const auto held = FileLock::acquire(path, std::nullopt, {});
  ASSERT_TRUE(held.has_value());
  std::string holder;
  const auto second =
      FileLock::acquire(path, std::nullopt, [&](const std::string& text) { holder = text; },
                        {milliseconds(1000), milliseconds(5), milliseconds(60)});
  EXPECT_FALSE(second.has_value());
  EXPECT_NE(holder.find("process " + std::to_string(::getpid())), std::string::npos) << holder;
}

TEST(FileLock, ALockOnADeletedFileExcludesNobody) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "lock";
  const auto old = FileLock::acquire(path, std::nullopt, {});
  std::filesystem::remove(path);
  const auto fresh = FileLock::acquire(path, std::nullopt, {},
                                       {milliseconds(1000), milliseconds(1000), milliseconds(500)});
  ASSERT_TRUE(fresh.has_value());
  const auto third = FileLock::acquire(path, std::nullopt, {},
                                       {milliseconds(1000), milliseconds(1000), milliseconds(50)});
  EXPECT_FALSE(third.has_value());
}

TEST(FileLock, NoFileNoLock) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(FileLock::acquire(directory.path() / "no" / "lock", std::nullopt, {}).has_value());
  EXPECT_FALSE(FileLock::acquire(directory.path(), std::nullopt, {}).has_value());
}

TEST(FileLock, ExcludesAPlainFlock) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "lock";
  const auto lock = FileLock::acquire(path, std::nullopt, {});
  const FileDescriptor other = open_file(path, 2);
  EXPECT_NE(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
}

}  // namespace
}  // namespace teeny::tool
