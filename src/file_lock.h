// An advisory lock that is only ever an optimisation: whoever does not get it goes on without, and
// correctness rests on rename(2) and digests.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "file.h"

namespace teeny::tool {

/// Bounds of FileLock::acquire(), variable for tests.
struct LockTiming {
  /// A flock() call that does not return in this time counts as unavailable.
  std::chrono::milliseconds call{10'000};
  /// How often `on_wait` is told who holds the lock.
  std::chrono::milliseconds notice{10'000};
  /// The longest wait for a holder.
  std::chrono::milliseconds total{15 * 60 * 1000};
};

/// flock(2) on a lock file, released at the end of its life or of the process. The file is never
/// deleted by us and is opened close-on-exec, so no compiler inherits the lock.
class FileLock {
 public:
  /// Called with a text that names the holder, such as `process 4711 on host a`.
  using OnWait = std::function<void(const std::string& holder)>;

  /// Waits for the lock by polling. Empty when there is no lock to be had (no flock on this file
  /// system, a call that hangs, `timing.total` is over, file can't be created): go on without.
  /// `mode` are the permission bits of a new lock file, exactly where given (whatever the umask).
  [[nodiscard]] static std::optional<FileLock> acquire(const std::filesystem::path& path,
                                                       std::optional<mode_t> mode,
                                                       const OnWait& on_wait,
                                                       const LockTiming& timing = {});

 private:
  explicit FileLock(FileDescriptor fd) : fd_(std::move(fd)) {}
  FileDescriptor fd_;
};

}  // namespace teeny::tool
