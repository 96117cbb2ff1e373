#include "diagnostics.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace teeny::tool {

namespace {

using Json = nlohmann::ordered_json;

// Size of the escape sequence at the front of `text`; 0 if there is none.
std::size_t escape_size(std::string_view text) {
  if (text.substr(0, 2) != "\x1b[") return 0;
  std::size_t size = 2;
  while (size < text.size() && (text[size] < 0x40 || text[size] > 0x7e)) ++size;
  return std::min(size + 1, text.size());
}

// Replaces the first `count` visible characters.
std::string with_visible_prefix(std::string_view line, std::size_t count, std::string_view prefix) {
  std::string result;
  bool placed = false;
  while (!line.empty()) {
    if (const std::size_t escape = escape_size(line); escape != 0) {
      result += line.substr(0, escape);
      line.remove_prefix(escape);
      continue;
    }
    if (!placed) result += prefix;
    placed = true;
    if (count == 0) return result + std::string(line);
    line.remove_prefix(1);
    --count;
  }
  if (!placed) result += prefix;
  return result;
}

std::optional<std::size_t> leading_number(std::string_view text, std::size_t& digits) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  digits = static_cast<std::size_t>(end - text.data());
  return value;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// A line of a diagnostic, by what stands in its gutter.
struct GutterLine {
  enum class Kind { other, arrow, number, blank } kind = Kind::other;
  std::size_t width = 0;   // of the gutter
  std::size_t number = 0;  // of a numbered line
};

GutterLine read_gutter(std::string_view visible) {
  const std::size_t spaces = std::min(visible.find_first_not_of(' '), visible.size());
  const std::string_view rest = visible.substr(spaces);
  if (starts_with(rest, "--> ") || starts_with(rest, "::: ")) {
    return {GutterLine::Kind::arrow, spaces, 0};
  }
  if (spaces > 0 && (starts_with(rest, "|") || starts_with(rest, "= "))) {
    return {GutterLine::Kind::blank, spaces - 1, 0};
  }
  std::size_t digits = 0;
  const std::optional<std::size_t> number =
      spaces == 0 ? leading_number(visible, digits) : std::nullopt;
  if (!number) return {};
  const std::size_t bar = std::min(visible.find_first_not_of(' ', digits), visible.size());
  constexpr std::string_view k_bars = "|+-~";
  if (bar == digits || bar == visible.size() ||
      k_bars.find(visible[bar]) == std::string_view::npos) {
    return {};
  }
  return {GutterLine::Kind::number, bar - 1, *number};
}

class Remapper {
 public:
  Remapper(std::string_view file, const FindOrigin& origin) : file_(file), origin_(origin) {}

  // Diagnostics are separated by empty lines; the gutter of each has one width.
  std::string text(std::string_view all) const {
    std::string result;
    std::vector<std::string_view> paragraph;
    while (!all.empty()) {
      const std::size_t end = std::min(all.find('\n'), all.size() - 1) + 1;
      const std::string_view line = all.substr(0, end);
      all.remove_prefix(end);
      if (starts_with(line, "{\"")) {
        result += json_line(line);
        continue;
      }
      paragraph.push_back(line);
      if (line == "\n" || all.empty()) {
        result += remap_paragraph(paragraph);
        paragraph.clear();
      }
    }
    return result + remap_paragraph(paragraph);
  }

 private:
  // `<file>:<line>` wherever it stands.
  [[nodiscard]] std::string remap_places(std::string_view line) const {
    std::string result;
    const std::string place = std::string(file_) + ":";
    while (true) {
      const std::size_t at = line.find(place);
      if (at == std::string_view::npos) break;
      std::size_t digits = 0;
      const auto number = leading_number(line.substr(at + place.size()), digits);
      result += line.substr(0, number ? at : at + place.size());
      line.remove_prefix(at + place.size());
      if (!number) continue;
      const TextOrigin origin = origin_(*number);
      result += origin.file + ":" + std::to_string(origin.line);
      line.remove_prefix(digits);
    }
    return result + std::string(line);
  }

  [[nodiscard]] std::string remap_paragraph(const std::vector<std::string_view>& lines) const {
    struct Read {
      GutterLine gutter;
      std::string number;  // as it is to be shown
    };
    std::vector<Read> read;
    bool ours = false;
    bool any = false;
    std::size_t width = 0;
    for (const std::string_view line : lines) {
      const std::string visible = without_colours(line);
      Read each{read_gutter(visible), ""};
      if (each.gutter.kind == GutterLine::Kind::arrow) {
        ours = visible.find(std::string(file_) + ":") != std::string::npos;
        any = any || ours;
        const std::string place = remap_places(visible);
        // The line's number counts for the width, as it does for rustc.
        const std::size_t column = place.rfind(':');
        const std::size_t number =
            column == std::string::npos ? column : place.rfind(':', column - 1);
        if (number != std::string::npos) width = std::max(width, column - number - 1);
      } else if (each.gutter.kind == GutterLine::Kind::number) {
        each.number = std::to_string(ours ? origin_(each.gutter.number).line : each.gutter.number);
        width = std::max(width, each.number.size());
      }
      read.push_back(std::move(each));
    }
    std::string result;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Read& each = read[i];
      std::string line = remap_places(lines[i]);
      if (any && each.gutter.kind != GutterLine::Kind::other) {
        std::string prefix = each.number;
        prefix.resize(width, ' ');
        line = with_visible_prefix(line, each.gutter.width, prefix);
      }
      result += line;
    }
    return result;
  }

  [[nodiscard]] std::string json_line(std::string_view line) const {
    Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) return std::string(line);
    remap_json(json);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  void remap_json(Json& json) const {
    if (json.is_array()) {
      for (Json& each : json) remap_json(each);
    }
    if (!json.is_object()) return;
    const auto name = json.find("file_name");
    if (name != json.end() && name->is_string() && name->get<std::string>() == file_) {
      std::optional<std::string> shown;
      for (const char* const key : {"line_start", "line_end"}) {
        const auto line = json.find(key);
        if (line == json.end() || !line->is_number_unsigned()) continue;
        const TextOrigin origin = origin_(line->get<std::size_t>());
        *line = origin.line;
        if (!shown) shown = origin.file;
      }
      if (shown) *name = *shown;
    }
    for (auto& [key, value] : json.items()) {
      if (key == "rendered" && value.is_string()) {
        value = text(value.get<std::string>());
      } else if (value.is_structured()) {
        remap_json(value);
      }
    }
  }

  std::string_view file_;
  const FindOrigin& origin_;
};

}  // namespace

std::string remap_diagnostics(std::string_view text, std::string_view file,
                              const FindOrigin& origin) {
  return Remapper(file, origin).text(text);
}

std::string without_colours(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    if (const std::size_t escape = escape_size(text); escape != 0) {
      text.remove_prefix(escape);
    } else {
      result += text.front();
      text.remove_prefix(1);
    }
  }
  return result;
}

bool wants_colours() {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
  };
  const char* const none = std::getenv("NO_COLOR");
  if (none != nullptr && *none != '\0') return false;
  return is_set("CLICOLOR_FORCE") || ::isatty(STDERR_FILENO) == 1;
}

}  // namespace teeny::tool
