#include "cache_settings.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <limits>
#include <sstream>

#include "error.h"
#include "file.h"

namespace teeny::tool {

namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view k_space = " \t\r";
  const std::size_t begin = text.find_first_not_of(k_space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(k_space) - begin + 1);
}

// A whole number and what stands behind it.
std::pair<std::uint64_t, std::string_view> split_number(std::string_view text,
                                                        const std::string& expected) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) {
    throw Error(ErrorKind::usage, "'" + std::string(text) + "' is not " + expected);
  }
  return {value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
  const std::string expected = "a size such as 5G, 512M or 1000";
  const auto [value, unit] = split_number(text, expected);
  constexpr std::string_view k_units = "KMGT";
  unsigned shift = 0;
  if (!unit.empty() && unit != "B") {
    const std::size_t power = k_units.find(unit.front());
    const std::string_view rest = unit.substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "iB")) {
      throw Error(ErrorKind::usage, "'" + std::string(text) + "' is not " + expected);
    }
    shift = 10 * (static_cast<unsigned>(power) + 1);
  }
  if (value > (std::numeric_limits<std::uint64_t>::max() >> shift)) {
    throw Error(ErrorKind::usage, "'" + std::string(text) + "' is too large");
  }
  return value << shift;
}

std::chrono::seconds parse_age(std::string_view text) {
  const std::string expected = "an age such as 30d, 12h, 90m or 45s";
  const auto [value, unit] = split_number(text, expected);
  std::uint64_t factor = 0;
  if (unit.empty() || unit == "s") factor = 1;
  if (unit == "m") factor = 60;
  if (unit == "h") factor = 60 * 60;
  if (unit == "d") factor = 24 * 60 * 60;
  constexpr std::uint64_t k_longest = std::uint64_t{1} << 40U;
  if (factor == 0 || value > k_longest / factor) {
    throw Error(ErrorKind::usage, "'" + std::string(text) + "' is not " + expected);
  }
  return std::chrono::seconds(value * factor);
}

CacheSettings read_cache_settings(const std::filesystem::path& cache) {
  CacheSettings settings;
  std::string text;
  try {
    text = read_file(cache / "teeny.conf");
  } catch (const SystemError&) {
    return settings;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view words = trim(std::string_view(line).substr(0, line.find('#')));
    const std::size_t equals = words.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trim(words.substr(0, equals));
    const std::string_view value = trim(words.substr(equals + 1));
    try {
      if (name == "max_size") settings.max_bytes = parse_size(value);
      if (name == "max_age") settings.max_age = parse_age(value);
      if (name == "prune_shared") settings.prune_shared = value == "yes" || value == "true";
    } catch (const Error& error) {
      spdlog::warn("{}: {}: {}; ignored", (cache / "teeny.conf").string(), name, error.what());
    }
  }
  return settings;
}

}  // namespace teeny::tool
