#include "rust_lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "error.h"

namespace teeny::tool {
namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bytes of non-ASCII characters count as letters: rustc is the judge of which of them may be used.
bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool continues_identifier(char c) { return starts_identifier(c) || is_digit(c); }

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The white space of Rust beyond ASCII: NEL, LRM, RLM, line and paragraph separator.
constexpr std::array<std::string_view, 5> k_wide_spaces = {
    "\xC2\x85", "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8", "\xE2\x80\xA9"};

std::size_t space_size(std::string_view rest) {
  if (rest.empty()) return 0;
  const char c = rest.front();
  if (c == ' ' || (c >= '\t' && c <= '\r')) return 1;
  for (const std::string_view space : k_wide_spaces) {
    if (rest.starts_with(space)) return space.size();
  }
  return 0;
}

// The bound keeps a run of stray continuation bytes from counting as one character.
std::size_t character_size(std::string_view rest) {
  std::size_t size = 1;
  while (size < rest.size() && size < 4 && continues_character(rest[size])) ++size;
  return size;
}

class Lexer {
 public:
  Lexer(std::string_view file, std::string_view text) : file_(file), text_(text) {}

  std::vector<RustToken> run() {
    at_ = byte_order_mark_size(text_);
    move_to(rust_preamble_size(text_));
    for (;;) {
      skip_space_and_comments();
      if (at_ == text_.size()) break;
      const auto [kind, size] = next_token();
      tokens_.push_back({kind, text_.substr(at_, size), at_, line_, column_});
      move_to(at_ + size);
    }
    tokens_.push_back({RustTokenKind::end, {}, at_, line_, column_});
    return std::move(tokens_);
  }

 private:
  struct Extent {
    RustTokenKind kind;
    std::size_t size;
  };

  // The character at a distance from here, NUL behind the end.
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void move_to(std::size_t target) {
    for (; at_ < target; ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        column_ = 1;
      } else if (!continues_character(text_[at_])) {
        ++column_;
      }
    }
  }

  [[noreturn]] void fail(std::string_view expected) const {
    throw Error(ErrorKind::kernel, message_at(file_, line_, column_, expected));
  }

  void skip_space_and_comments() {
    for (;;) {
      const std::string_view rest = text_.substr(at_);
      if (const std::size_t space = space_size(rest); space != 0) {
        move_to(at_ + space);
      } else if (rest.starts_with("//")) {
        const std::size_t end = text_.find('\n', at_);
        move_to(end == std::string_view::npos ? text_.size() : end);
      } else if (rest.starts_with("/*")) {
        move_to(block_comment_end());
      } else {
        return;
      }
    }
  }

  [[nodiscard]] std::size_t block_comment_end() const {
    std::size_t depth = 0;
    for (std::size_t i = at_; i + 1 < text_.size();) {
      const std::string_view two = text_.substr(i, 2);
      if (two == "/*") {
        ++depth;
        i += 2;
      } else if (two == "*/") {
        i += 2;
        if (--depth == 0) return i;
      } else {
        ++i;
      }
    }
    fail("expected `*/` to close this block comment");
  }

  [[nodiscard]] Extent next_token() const {
    const char c = peek();
    if (starts_identifier(c)) return word();
    if (is_digit(c)) return {RustTokenKind::number, number_size()};
    if (c == '"') return {RustTokenKind::string, quoted_size(0)};
    if (c == '\'') return quote();
    const std::string_view two = text_.substr(at_, 2);
    const bool joined = two == "::" || two == "->" || two == "=>";
    return {RustTokenKind::punctuation, joined ? 2U : 1U};
  }

  [[nodiscard]] std::size_t word_size(std::size_t from) const {
    std::size_t size = from;
    while (at_ + size < text_.size() && continues_identifier(text_[at_ + size]) &&
           space_size(text_.substr(at_ + size)) == 0) {
      size += character_size(text_.substr(at_ + size));
    }
    return size;
  }

  [[nodiscard]] Extent word() const {
    const std::size_t size = word_size(0);
    const std::string_view name = text_.substr(at_, size);
    if ((name == "b" || name == "c") && peek(1) == '"') {
      return {RustTokenKind::string, quoted_size(1)};
    }
    if (name == "b" && peek(1) == '\'') return {RustTokenKind::character, character_literal(1)};
    if (name == "r" || name == "br" || name == "cr") {
      std::size_t hashes = 0;
      while (peek(size + hashes) == '#') ++hashes;
      if (peek(size + hashes) == '"') return {RustTokenKind::string, raw_size(size, hashes)};
      if (name == "r" && hashes == 1 && starts_identifier(peek(2)) &&
          space_size(text_.substr(at_ + 2)) == 0) {
        return {RustTokenKind::identifier, word_size(2)};
      }
    }
    return {RustTokenKind::identifier, size};
  }

  [[nodiscard]] std::size_t number_size() const {
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'o' || peek(1) == 'b')) {
      return word_size(2);
    }
    std::size_t size = digits_from(1);
    // `1..2` is a range and `1.max(2)` a call: only then the dot is not the number's own.
    if (peek(size) == '.' && peek(size + 1) != '.' && !starts_identifier(peek(size + 1))) {
      size = digits_from(size + 1);
    }
    if (peek(size) == 'e' || peek(size) == 'E') {
      const bool sign = peek(size + 1) == '+' || peek(size + 1) == '-';
      if (sign && is_digit(peek(size + 2))) size = digits_from(size + 2);
    }
    return word_size(size);
  }

  [[nodiscard]] std::size_t digits_from(std::size_t size) const {
    while (is_digit(peek(size)) || peek(size) == '_') ++size;
    return size;
  }

  // A string from its prefix of `prefix` bytes to its closing quote.
  [[nodiscard]] std::size_t quoted_size(std::size_t prefix) const {
    for (std::size_t i = at_ + prefix + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '"') {
        return i + 1 - at_;
      }
    }
    fail("expected `\"` to close this string");
  }

  [[nodiscard]] std::size_t raw_size(std::size_t prefix, std::size_t hashes) const {
    for (std::size_t i = at_ + prefix + hashes + 1; i < text_.size();) {
      if (text_[i++] != '"') continue;
      std::size_t found = 0;
      while (found < hashes && i < text_.size() && text_[i] == '#') {
        ++found;
        ++i;
      }
      if (found == hashes) return i - at_;
    }
    fail("expected `\"" + std::string(hashes, '#') + "` to close this raw string");
  }

  // A lifetime or a character: 'a is followed by anything but a quote.
  [[nodiscard]] Extent quote() const {
    if (starts_identifier(peek(1))) {
      const std::size_t first = character_size(text_.substr(at_ + 1));
      if (peek(1 + first) != '\'') {
        std::size_t size = word_size(1);
        if (size == 2 && peek(1) == 'r' && peek(2) == '#' && starts_identifier(peek(3))) {
          size = word_size(3);
        }
        return {RustTokenKind::lifetime, size};
      }
    }
    return {RustTokenKind::character, character_literal(0)};
  }

  [[nodiscard]] std::size_t character_literal(std::size_t prefix) const {
    const std::size_t first = prefix + 1;
    if (peek(first) == '\'' && peek(first + 1) == '\'') return first + 2;
    for (std::size_t i = at_ + first; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '\'') {
        return i + 1 - at_;
      } else if (text_[i] == '\n' && i != at_ + first) {
        break;
      }
    }
    fail("expected `'` to close this character");
  }

  std::string_view file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
  std::vector<RustToken> tokens_;
};

}  // namespace

std::string_view RustToken::plain_name() const {
  const bool raw = kind == RustTokenKind::identifier && text.starts_with("r#");
  return raw ? text.substr(2) : text;
}

std::vector<RustToken> tokenize_rust(std::string_view file, std::string_view text) {
  return Lexer(file, text).run();
}

std::size_t byte_order_mark_size(std::string_view text) {
  return text.starts_with(k_byte_order_mark) ? k_byte_order_mark.size() : 0;
}

std::size_t rust_preamble_size(std::string_view text) {
  const std::size_t mark = byte_order_mark_size(text);
  const std::string_view rest = text.substr(mark);
  if (!rest.starts_with("#!")) return mark;
  // `#![…]` is an attribute, also with space or comments before the bracket.
  std::size_t i = 2;
  for (;;) {
    const std::string_view after = rest.substr(i);
    if (const std::size_t space = space_size(after); space != 0) {
      i += space;
    } else if (after.starts_with("//")) {
      i = std::min(rest.find('\n', i), rest.size());
    } else if (after.starts_with("/*") && rest.find("*/", i + 2) != std::string_view::npos) {
      i = rest.find("*/", i + 2) + 2;
    } else if (after.starts_with("[")) {
      return mark;
    } else {
      break;
    }
  }
  return mark + std::min(rest.find('\n'), rest.size());
}

std::string message_at(std::string_view file, std::size_t line, std::size_t column,
                       std::string_view message) {
  return std::string(file) + ':' + std::to_string(line) + ':' + std::to_string(column) + ": " +
         std::string(message);
}

}  // namespace teeny::tool
