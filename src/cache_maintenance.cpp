#include "cache_maintenance.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <unordered_map>

#include "atomic_file.h"
#include "cache_settings.h"
#include "cache_statistics.h"
#include "error.h"
#include "file.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 4> k_members = {"json", "o", "rs", "mlir"};

// One `<name>.*` of the cache, by what the directory says.
struct Listed {
  std::string name;
  std::array<std::uint64_t, k_members.size()> sizes{};
  std::array<bool, k_members.size()> there{};
  std::time_t used = 0;  // of the manifest, which a hit touches

  [[nodiscard]] bool has_manifest() const { return there[0]; }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t size : sizes) sum += size;
    return sum;
  }
};

struct Listing {
  std::vector<Listed> entries;  // those with a manifest
  std::vector<std::pair<std::string, std::time_t>> temporaries;
  bool complete = true;
};

Listing list_cache(const fs::path& root, std::optional<Clock::time_point> deadline = {}) {
  Listing listing;
  DIR* const directory = ::opendir(root.c_str());
  if (directory == nullptr) {
    const int code = errno;
    throw SystemError(code, "opendir", root.string());
  }
  const int fd = ::dirfd(directory);
  std::unordered_map<std::string, Listed> found;
  while (const dirent* const file = ::readdir(directory)) {
    if (deadline && Clock::now() > *deadline) {
      listing.complete = false;
      break;
    }
    const std::string_view name = file->d_name;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) continue;
    const bool temporary = name.find(k_temporary_infix) != std::string_view::npos;
    const auto* const member = std::find(k_members.begin(), k_members.end(), name.substr(dot + 1));
    if (!temporary && member == k_members.end()) continue;
    struct stat status {};
    if (::fstatat(fd, file->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
      continue;
    }
    if (temporary) {
      listing.temporaries.emplace_back(name, status.st_mtime);
      continue;
    }
    Listed& entry = found[std::string(name.substr(0, dot))];
    const auto index = static_cast<std::size_t>(member - k_members.begin());
    entry.there[index] = true;
    entry.sizes[index] = static_cast<std::uint64_t>(status.st_size);
    if (index == 0) entry.used = status.st_mtime;
  }
  ::closedir(directory);
  for (auto& [name, entry] : found) {
    if (!entry.has_manifest()) continue;
    entry.name = name;
    listing.entries.push_back(std::move(entry));
  }
  return listing;
}

enum class Deleted { no, yes };

// Manifest first. Whoever holds the entry's lock is about to write it: then it stays.
Deleted delete_entry(const CompileCache& cache, const std::string& name) {
  constexpr LockTiming k_no_wait = {std::chrono::seconds(10), std::chrono::seconds(10),
                                    std::chrono::seconds(0)};
  const fs::path base = cache.root() / name;
  const auto path = [&base](std::string_view ending) {
    return fs::path(base.string() + "." + std::string(ending));
  };
  const bool has_lock = fs::exists(fs::symlink_status(path("lock")));
  std::optional<FileLock> lock;
  if (has_lock) {
    lock = FileLock::acquire(path("lock"), std::nullopt, {}, k_no_wait);
    if (!lock) return Deleted::no;
  }
  const bool rust_runtime_locks_it = cache.is_id_entry(name);
  for (const std::string_view ending : k_members) remove_file(path(ending));
  if (has_lock && !rust_runtime_locks_it) remove_file(path("lock"));
  return Deleted::yes;
}

std::uint64_t delete_old_temporaries(const fs::path& root, const Listing& listing) {
  constexpr std::time_t k_hour = 60 * 60;
  const std::time_t now = std::time(nullptr);
  std::uint64_t deleted = 0;
  for (const auto& [name, time] : listing.temporaries) {
    if (now - time < k_hour) continue;
    remove_file(root / name);
    ++deleted;
  }
  return deleted;
}

}  // namespace

CacheContents cache_contents(const fs::path& cache) {
  CacheContents contents;
  for (const Listed& entry : list_cache(cache).entries) {
    ++contents.entries;
    contents.bytes += entry.bytes();
  }
  return contents;
}

VerifyReport verify_cache(const CompileCache& cache, Repair repair) {
  VerifyReport report;
  Listing listing = list_cache(cache.root());
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const Listed& a, const Listed& b) { return a.name < b.name; });
  for (const Listed& entry : listing.entries) {
    if (const std::optional<std::string> reason = cache.fault(entry.name)) {
      report.damaged.push_back({entry.name, *reason});
      if (repair == Repair::yes) delete_entry(cache, entry.name);
    } else {
      ++report.sound;
    }
  }
  return report;
}

PruneReport prune_cache(const CompileCache& cache, const PruneLimits& limits) {
  std::optional<Clock::time_point> deadline;
  if (limits.time) deadline = Clock::now() + *limits.time;
  Listing listing = list_cache(cache.root(), deadline);
  PruneReport report;
  if (!listing.complete) return report;
  report.deleted_temporaries = delete_old_temporaries(cache.root(), listing);

  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const Listed& a, const Listed& b) { return a.used < b.used; });
  for (const Listed& entry : listing.entries) {
    ++report.left.entries;
    report.left.bytes += entry.bytes();
  }
  const std::time_t now = std::time(nullptr);
  for (const Listed& entry : listing.entries) {
    const bool too_old = limits.max_age && now - entry.used > limits.max_age->count();
    const bool too_much = limits.max_bytes && report.left.bytes > *limits.max_bytes;
    if (!too_old && !too_much) break;
    if (deadline && Clock::now() > *deadline) break;
    if (delete_entry(cache, entry.name) == Deleted::no) continue;
    ++report.deleted_entries;
    report.deleted_bytes += entry.bytes();
    --report.left.entries;
    report.left.bytes -= entry.bytes();
  }
  return report;
}

void prune_in_passing(const CompileCache& cache) noexcept try {
  const fs::path mark = cache.root() / "prune.stamp";
  constexpr std::time_t k_pause = 60;
  struct stat status {};
  if (::lstat(mark.c_str(), &status) == 0 && std::time(nullptr) - status.st_mtime < k_pause) {
    return;
  }
  AtomicFile(mark, "", Durability::none, cache.file_mode()).commit();
  const CacheSettings settings = read_cache_settings(cache.root());
  if (cache.sharing() == CacheSharing::group && !settings.prune_shared) return;
  constexpr std::chrono::milliseconds k_budget{1000};
  prune_cache(cache, {settings.max_bytes, settings.max_age, k_budget});
  condense_statistics(cache.root(), cache.file_mode());
} catch (const std::exception&) {
  // Whoever comes next tries again.
}

PruneReport clear_cache(const CompileCache& cache) {
  const Listing listing = list_cache(cache.root());
  PruneReport report;
  report.deleted_temporaries = delete_old_temporaries(cache.root(), listing);
  for (const Listed& entry : listing.entries) {
    if (delete_entry(cache, entry.name) == Deleted::no) {
      ++report.left.entries;
      report.left.bytes += entry.bytes();
      continue;
    }
    ++report.deleted_entries;
    report.deleted_bytes += entry.bytes();
  }
  std::error_code ignored;
  fs::remove_all(cache.root() / "stats", ignored);
  return report;
}

}  // namespace teeny::tool
