#include "log_level.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "error.h"

namespace teeny::tool {

namespace {

constexpr std::array<std::string_view, 5> k_names = {"error", "warn", "info", "debug", "trace"};

}  // namespace

std::string_view to_string(LogLevel level) noexcept {
  return k_names[static_cast<std::size_t>(level)];
}

LogLevel parse_log_level(std::string_view text) {
  constexpr std::string_view k_space = " \t\n\r\f\v";
  const std::size_t begin = text.find_first_not_of(k_space);
  const std::size_t end = text.find_last_not_of(k_space);
  std::string word(begin == std::string_view::npos ? "" : text.substr(begin, end - begin + 1));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const found = std::find(k_names.begin(), k_names.end(), word);
  if (found == k_names.end()) {
    throw Error(ErrorKind::usage, "unknown log level '" + word +
                                      "'; expected one of error, warn, info, debug, trace");
  }
  return static_cast<LogLevel>(found - k_names.begin());
}

}  // namespace teeny::tool
