// What a cache did: one line per event in `<cache>/stats/<day>.<host>.log`, written by one append,
// so that 64 writers lose nothing and nobody waits. Days that are over are summed up into
// `<cache>/stats/summary.json`. A failure to count is never more than that.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace teeny::tool {

/// Sums over events.
struct CacheStatistics {
  std::uint64_t hits = 0;
  std::map<std::string, std::uint64_t> misses;  ///< by reason
  std::uint64_t stores = 0;
  std::uint64_t stored_bytes = 0;
  double stored_seconds = 0;      ///< compile time of what was stored
  std::uint64_t saved_bytes = 0;  ///< of images delivered by hits
  double saved_seconds = 0;       ///< compile time that hits did not spend

  CacheStatistics& operator+=(const CacheStatistics& other);
  friend bool operator==(const CacheStatistics&, const CacheStatistics&) = default;
};

/// Counts events of one cache. None of its calls throws.
class StatisticsLog {
 public:
  /// `file_mode`: exact permission bits of new files (a group's cache); by default the umask's.
  StatisticsLog(std::filesystem::path cache, std::optional<mode_t> file_mode);

  void hit(std::uint64_t bytes, double compile_seconds) const noexcept;
  void miss(std::string_view reason) const noexcept;
  void store(std::uint64_t bytes, double compile_seconds) const noexcept;

 private:
  void append(const std::string& line) const;

  std::filesystem::path directory_;
  std::optional<mode_t> file_mode_;
};

/// The sums of a cache since it was last cleared. Lines that can't be read count for nothing.
[[nodiscard]] CacheStatistics read_statistics(const std::filesystem::path& cache);

/// Sums up the logs of days before yesterday, which nobody writes to any more, and deletes them.
/// One process at a time; a crash in between neither loses nor doubles anything.
void condense_statistics(const std::filesystem::path& cache, std::optional<mode_t> file_mode);

}  // namespace teeny::tool
