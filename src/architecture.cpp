#include "architecture.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "error.h"

namespace teeny::tool {

namespace {

template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string Architecture::text() const {
  std::string result = "sm_" + std::to_string(capability);
  if (suffix != '\0') result += suffix;
  return result;
}

Architecture parse_architecture(std::string_view text) {
  std::string word(text);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view rest = word;
  for (const std::string_view prefix : {"sm_", "sm-", "sm"}) {
    if (rest.substr(0, prefix.size()) == prefix) {
      rest.remove_prefix(prefix.size());
      break;
    }
  }
  for (const std::string_view ending : {"-real", "-virtual"}) {
    if (rest.size() > ending.size() && rest.substr(rest.size() - ending.size()) == ending) {
      rest.remove_suffix(ending.size());
    }
  }
  Architecture result;
  if (!rest.empty() && (rest.back() == 'a' || rest.back() == 'f')) {
    result.suffix = rest.back();
    rest.remove_suffix(1);
  }
  const std::optional<unsigned> capability = whole_number<unsigned>(rest);
  if (!capability || rest.size() < 2 || rest.size() > 3 || rest.front() == '0') {
    throw Error(ErrorKind::usage, "architecture(" + std::string(text) +
                                      "): expected a compute capability such as 90, sm_90, 90a");
  }
  result.capability = *capability;
  return result;
}

std::uint32_t parse_ptx_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  std::optional<std::uint32_t> version;
  if (dot == std::string_view::npos) {
    version = whole_number<std::uint32_t>(text);
  } else {
    const auto major = whole_number<std::uint32_t>(text.substr(0, dot));
    const std::string_view after = text.substr(dot + 1);
    const auto minor = whole_number<std::uint32_t>(after);
    constexpr std::uint32_t k_largest_major = 1000;
    if (major && minor && after.size() == 1 && *major < k_largest_major) {
      version = *major * 10 + *minor;
    }
  }
  if (!version) {
    throw Error(ErrorKind::usage, "PTX version(" + std::string(text) +
                                      "): expected major.minor such as 8.2, or 82 for the same");
  }
  return *version;
}

}  // namespace teeny::tool
