// `<cache>/teeny.conf`: what the owner of a cache decides for all who use it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace teeny::tool {

/// Lines `name = value`; `#` starts a comment. Unknown names are ignored.
struct CacheSettings {
  std::uint64_t max_bytes = std::uint64_t{5}
                            << 30U;             ///< max_size: bytes, or with K, M, G, T (1024)
  std::optional<std::chrono::seconds> max_age;  ///< max_age: seconds, or with m, h, d
  bool prune_shared = false;  ///< prune_shared = yes: builds may prune a group's cache
};

/// The settings of a cache; the defaults where it has no file or a line can't be read.
[[nodiscard]] CacheSettings read_cache_settings(const std::filesystem::path& cache);

/// `5G`, `512MiB`, `1000`. Throws Error(usage).
[[nodiscard]] std::uint64_t parse_size(std::string_view text);

/// `30d`, `12h`, `90m`, `45`, `45s`. Throws Error(usage).
[[nodiscard]] std::chrono::seconds parse_age(std::string_view text);

}  // namespace teeny::tool
