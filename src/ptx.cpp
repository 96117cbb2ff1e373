#include "ptx.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace teeny::tool {

namespace {

constexpr std::string_view k_space = " \t\r\n";

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(k_space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(k_space) - begin + 1);
}

bool starts_with_word(std::string_view line, std::string_view word) {
  return line.substr(0, word.size()) == word &&
         (line.size() == word.size() || k_space.find(line[word.size()]) != std::string_view::npos);
}

// Cuts the next line, with its line end, off the front of `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
  text.remove_prefix(line.size());
  return line;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The identifier at the front of `text`; PTX ISA: [a-zA-Z][a-zA-Z0-9_$]* or [_$%][a-zA-Z0-9_$]+.
std::string_view identifier(std::string_view text) {
  std::size_t size = 0;
  const auto is_part = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
  };
  while (size < text.size() && is_part(static_cast<unsigned char>(text[size]))) ++size;
  return text.substr(0, size);
}

// `[.visible|.weak|.extern] .entry NAME` → NAME.
std::string_view entry_of(std::string_view line) {
  for (const std::string_view linkage : {".visible", ".weak", ".extern"}) {
    if (starts_with_word(line, linkage)) line = trim(line.substr(linkage.size()));
  }
  constexpr std::string_view k_entry = ".entry";
  if (!starts_with_word(line, k_entry)) return {};
  return identifier(trim(line.substr(k_entry.size())));
}

std::array<std::uint32_t, 3> three_numbers(std::string_view text) {
  std::array<std::uint32_t, 3> result = {0, 1, 1};
  for (std::uint32_t& value : result) {
    const std::size_t comma = text.find(',');
    const auto read = number<std::uint32_t>(trim(text.substr(0, comma)));
    if (!read) break;
    value = *read;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return result[0] == 0 ? std::array<std::uint32_t, 3>{} : result;
}

struct Header {
  std::uint32_t version = 0;
  std::string_view target;
};

Header read_header(std::string_view ptx) {
  Header header;
  while (!ptx.empty() && (header.version == 0 || header.target.empty())) {
    const std::string_view line = trim(take_line(ptx));
    if (starts_with_word(line, ".version")) {
      const std::string_view value = trim(line.substr(std::string_view(".version").size()));
      const std::size_t dot = value.find('.');
      if (dot == std::string_view::npos) continue;
      const auto major = number<std::uint32_t>(value.substr(0, dot));
      const auto minor = number<std::uint32_t>(value.substr(dot + 1, 1));
      if (major && minor && *major < 1000) header.version = *major * 10 + *minor;
    } else if (starts_with_word(line, ".target")) {
      header.target = identifier(trim(line.substr(std::string_view(".target").size())));
    } else if (!entry_of(line).empty()) {
      break;
    }
  }
  return header;
}

// What the braces of PTX code say; those in comments and strings do not count.
struct Braces {
  bool balanced = false;
  bool any = false;
};

Braces braces_of(std::string_view text) {
  long depth = 0;
  bool any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    std::size_t end = 0;
    if (rest.front() == '"') {
      end = text.find('"', i + 1);
    } else if (rest.substr(0, 2) == "//") {
      end = text.find('\n', i);
    } else if (rest.substr(0, 2) == "/*") {
      end = text.find("*/", i + 2);
      if (end != std::string_view::npos) ++end;
    } else {
      if (rest.front() == '{') ++depth;
      if (rest.front() == '}' && --depth < 0) return {};
      any = any || rest.front() == '{';
      continue;
    }
    if (end == std::string_view::npos) break;
    i = end;
  }
  return {depth == 0, any};
}

// From the line of the last entry point on.
std::string_view last_entry(std::string_view ptx) {
  std::string_view found;
  while (!ptx.empty()) {
    const std::string_view here = ptx;
    if (!entry_of(trim(take_line(ptx))).empty()) found = here;
  }
  return found;
}

// Keys of the trailer and of the older comments, by the trailer's names; the trailer wins.
std::map<std::string, std::string_view, std::less<>> comment_values(std::string_view ptx) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> k_older = {{
      {"// TRITON_SHARED_MEM_BYTES: ", "shared"},
      {"// TRITON_GLOBAL_SCRATCH_BYTES_PER_CTA: ", "global_scratch_size"},
      {"// TRITON_GLOBAL_SCRATCH_ALIGN: ", "global_scratch_align"},
  }};
  constexpr std::string_view k_meta = "// meta:";
  std::map<std::string, std::string_view, std::less<>> older;
  std::map<std::string, std::string_view, std::less<>> values;
  while (!ptx.empty()) {
    const std::string_view line = trim(take_line(ptx));
    if (line.substr(0, 2) != "//") continue;
    if (line.substr(0, k_meta.size()) == k_meta) {
      const std::string_view pair = line.substr(k_meta.size());
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos) continue;
      values.insert_or_assign(std::string(pair.substr(0, equals)), pair.substr(equals + 1));
    } else {
      for (const auto& [prefix, key] : k_older) {
        if (line.substr(0, prefix.size()) == prefix) {
          older.insert_or_assign(std::string(key), line.substr(prefix.size()));
        }
      }
    }
  }
  values.merge(older);
  return values;
}

}  // namespace

std::vector<std::string> ptx_entries(std::string_view ptx) {
  std::vector<std::string> names;
  while (!ptx.empty()) {
    const std::string_view name = entry_of(trim(take_line(ptx)));
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> ptx_parameters(std::string_view ptx, std::string_view entry) {
  std::vector<std::string> types;
  bool inside = false;
  while (!ptx.empty()) {
    const std::string_view line = trim(take_line(ptx));
    const std::string_view name = entry_of(line);
    if (!name.empty()) {
      if (inside) break;
      inside = name == entry;
    }
    if (!inside) continue;
    // One line has one parameter, as compilers write it; `)` ends the list.
    constexpr std::string_view k_parameter = ".param";
    if (starts_with_word(line, k_parameter)) {
      std::string_view rest = trim(line.substr(k_parameter.size()));
      if (starts_with_word(rest, ".align")) {
        rest = trim(rest.substr(std::string_view(".align").size()));
        rest = trim(rest.substr(std::min(rest.find(' '), rest.size())));
      }
      std::string type(identifier(rest.substr(rest.empty() ? 0 : 1)));
      const std::size_t bracket = rest.find('[');
      if (bracket != std::string_view::npos)
        type += rest.substr(bracket, rest.find(']') - bracket + 1);
      types.push_back(std::move(type));
    }
    if (line.find(')') != std::string_view::npos || line.substr(0, 1) == "{") break;
  }
  return types;
}

PtxMetadata parse_ptx_metadata(std::string_view ptx, std::string_view entry) {
  PtxMetadata result;
  const Header header = read_header(ptx);
  result.ptx_version = header.version;
  result.target = header.target;

  const auto values = comment_values(ptx);
  const auto read = [&values](std::string_view key, auto& into) {
    const auto found = values.find(key);
    if (found == values.end()) return false;
    const auto value = number<std::remove_reference_t<decltype(into)>>(trim(found->second));
    if (value) into = *value;
    return value.has_value();
  };
  const bool has_warps = read("num_warps", result.num_warps);
  read("num_ctas", result.num_ctas);
  read("shared", result.shared);
  read("tmem_size", result.tmem_size);
  read("global_scratch_size", result.global_scratch_size);
  read("global_scratch_align", result.global_scratch_align);
  read("profile_scratch_size", result.profile_scratch_size);
  read("profile_scratch_align", result.profile_scratch_align);

  if (entry.empty()) {
    const auto named = values.find("name");
    if (named != values.end()) entry = named->second;
  }
  bool inside = false;
  while (!ptx.empty()) {
    const std::string_view line = trim(take_line(ptx));
    const std::string_view name = entry_of(line);
    if (!name.empty()) {
      if (inside) break;
      inside = entry.empty() || name == entry;
      if (inside) result.entry = name;
    } else if (inside && starts_with_word(line, ".reqntid")) {
      result.required_threads = three_numbers(line.substr(std::string_view(".reqntid").size()));
    } else if (inside && line.substr(0, 1) == "{") {
      break;
    }
  }
  if (result.entry.empty()) result.entry = entry;
  constexpr std::uint32_t k_warp = 32;
  if (!has_warps) result.num_warps = (result.required_threads[0] + k_warp - 1) / k_warp;
  return result;
}

std::optional<std::string> ptx_fault(std::string_view ptx) {
  if (ptx.empty()) return "it is empty";
  if (ptx.find('\0') != std::string_view::npos) return "it has a NUL byte";
  const Header header = read_header(ptx);
  if (header.version == 0) return "it has no .version line";
  if (header.target.empty()) return "it has no .target line";
  if (ptx_entries(ptx).empty()) return "it has no entry point";
  if (!braces_of(ptx).balanced) return "its braces do not balance, so it is not complete";
  if (!braces_of(last_entry(ptx)).any) return "its last entry point has no body";
  if (ptx.back() != '\n') return "it does not end with a newline, so it is not complete";
  return std::nullopt;
}

std::string strip_ptx_debug(std::string_view ptx) {
  std::string result;
  result.reserve(ptx.size());
  while (!ptx.empty()) {
    const std::string_view line = take_line(ptx);
    const std::string_view words = trim(line);
    if (starts_with_word(words, ".loc") || starts_with_word(words, ".file")) continue;
    if (starts_with_word(words, ".section") && words.find(".debug_") != std::string_view::npos) {
      std::size_t open = line.find('{');
      std::size_t close = line.find('}');
      // The block may open on a later line; it holds no strings or inner braces.
      while (close == std::string_view::npos && !ptx.empty()) {
        const std::string_view next = take_line(ptx);
        if (open == std::string_view::npos) {
          open = next.find('{');
          if (open == std::string_view::npos && !trim(next).empty()) {
            result += next;  // a section without a block: nothing to skip
            break;
          }
        }
        close = next.find('}');
      }
      continue;
    }
    if (starts_with_word(words, ".target")) {
      std::string target(line);
      for (const std::string_view option : {", debug", ",debug"}) {
        const std::size_t at = target.find(option);
        if (at != std::string::npos) target.erase(at, option.size());
      }
      result += target;
      continue;
    }
    result += line;
  }
  return result;
}

}  // namespace teeny::tool
