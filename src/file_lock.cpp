#include "file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "error.h"
#include "interrupt.h"

namespace teeny::tool {

namespace {

using Clock = std::chrono::steady_clock;

// The outcome of one flock() call made in a thread of its own, which outlives us if it hangs.
struct Attempt {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<int> code;  // 0 or errno
  FileDescriptor fd;
};

// errno of flock(LOCK_EX | LOCK_NB), 0 for success; empty when the call did not come back in time.
std::optional<int> try_lock(int fd, std::chrono::milliseconds limit) {
  auto attempt = std::make_shared<Attempt>();
  // flock belongs to the open file description: a duplicate locks for us, and a hanging call keeps
  // its own descriptor valid.
  attempt->fd = FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!attempt->fd.is_open()) return errno;
  try {
    std::thread([attempt] {
      const int code = ::flock(attempt->fd.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
      const std::lock_guard guard(attempt->mutex);
      attempt->code = code;
      attempt->done.notify_one();
    }).detach();
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  std::unique_lock guard(attempt->mutex);
  attempt->done.wait_for(guard, limit, [&] { return attempt->code.has_value(); });
  return attempt->code;
}

// True when `path` still names the file that `fd` is: a lock on a deleted file excludes nobody.
bool is_still(const std::filesystem::path& path, int fd) {
  struct stat ours {};
  struct stat named {};
  return ::fstat(fd, &ours) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

std::string holder_of(int fd) {
  std::array<char, 256> text{};
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  std::string holder(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  holder.erase(std::find_if(holder.begin(), holder.end(),
                            [](unsigned char c) { return c < 0x20 || c > 0x7e; }),
               holder.end());
  return holder.empty() ? "another program" : holder;
}

// For the message of those who wait; nothing depends on it.
void note_holder(int fd) {
  std::array<char, 128> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const std::string text = "process " + std::to_string(::getpid()) + " on " + host.data() + "\n";
  if (::ftruncate(fd, 0) == 0) {
    [[maybe_unused]] const ssize_t ignored = ::pwrite(fd, text.data(), text.size(), 0);
  }
}

}  // namespace

std::optional<FileLock> FileLock::acquire(const std::filesystem::path& path,
                                          std::optional<mode_t> mode, const OnWait& on_wait,
                                          const LockTiming& timing) {
  const auto begin = Clock::now();
  auto next_notice = begin + timing.notice;
  constexpr std::chrono::milliseconds k_longest_pause{50};
  std::chrono::milliseconds pause{1};
  FileDescriptor fd;
  while (true) {
    throw_if_interrupted();
    if (!fd.is_open()) {
      try {
        fd = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666);
      } catch (const SystemError&) {
        return std::nullopt;
      }
      struct stat status {};
      if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
      // Fails for a file of another member of the group, who has set the same mode.
      if (mode && (status.st_mode & 07777U) != *mode) {
        [[maybe_unused]] const int ignored = ::fchmod(fd.get(), *mode);
      }
    }
    const std::optional<int> code = try_lock(fd.get(), timing.call);
    if (code == 0) {
      if (is_still(path, fd.get())) {
        note_holder(fd.get());
        return FileLock(std::move(fd));
      }
      fd.reset();
      continue;
    }
    if (code == EINTR) continue;
    if (code != EWOULDBLOCK) return std::nullopt;

    const auto now = Clock::now();
    if (now - begin >= timing.total) return std::nullopt;
    if (now >= next_notice) {
      if (on_wait) on_wait(holder_of(fd.get()));
      next_notice = now + timing.notice;
    }
    sleep_for(pause);
    pause = std::min(pause * 2, k_longest_pause);
  }
}

}  // namespace teeny::tool
