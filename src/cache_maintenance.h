// Looking after a cache: what is in it, whether it is sound, and making room.
//
// Only entries with a manifest of ours are ever deleted, manifest first, so that a build which
// reads one at that moment has a miss and never half an entry. What the Rust runtime left, and the
// locks of ID entries (which it takes as well), stay.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compile_cache.h"

namespace teeny::tool {

/// What is in a cache.
struct CacheContents {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  ///< of all members of those entries
};

[[nodiscard]] CacheContents cache_contents(const std::filesystem::path& cache);

/// An entry that is not what its manifest says.
struct DamagedEntry {
  std::string name;
  std::string reason;
};

/// Whether damaged entries are deleted, so that the next build makes them anew.
enum class Repair { no, yes };

struct VerifyReport {
  std::uint64_t sound = 0;
  std::vector<DamagedEntry> damaged;
};

/// Reads every member of every entry.
[[nodiscard]] VerifyReport verify_cache(const CompileCache& cache, Repair repair);

struct PruneLimits {
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::chrono::seconds> max_age;
  /// Give up when it takes longer; nothing is deleted unless all entries were seen.
  std::optional<std::chrono::milliseconds> time;
};

struct PruneReport {
  std::uint64_t deleted_entries = 0;
  std::uint64_t deleted_bytes = 0;
  std::uint64_t deleted_temporaries = 0;
  CacheContents left;
};

/// Deletes entries that were not used for `max_age`, then the least recently used ones until at
/// most `max_bytes` are left, and temporaries older than an hour. Entries that are being made
/// (their lock is held) stay.
PruneReport prune_cache(const CompileCache& cache, const PruneLimits& limits);

/// After a store: prunes by the cache's own settings, at most once a minute and for at most a
/// second. A cache of a group only if its settings say so. Never throws.
void prune_in_passing(const CompileCache& cache) noexcept;

/// Deletes all entries of ours, old temporaries, and the statistics.
PruneReport clear_cache(const CompileCache& cache);

}  // namespace teeny::tool
