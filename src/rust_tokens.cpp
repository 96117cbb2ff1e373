#include "rust_tokens.h"

#include <algorithm>

#include "error.h"

namespace teeny::tool {
namespace {

std::string_view closing_of(std::string_view opening) {
  if (opening == "(") return ")";
  if (opening == "[") return "]";
  return "}";
}

bool is_word(const RustToken& token) { return token.kind != RustTokenKind::punctuation; }

bool is_any(const RustToken& token, std::initializer_list<std::string_view> spellings) {
  return std::any_of(spellings.begin(), spellings.end(),
                     [&](std::string_view spelling) { return token.is(spelling); });
}

bool needs_space(const RustToken& left, const RustToken& right) {
  if (is_any(right, {",", ";", ":"})) return false;
  if (is_word(left) && is_word(right)) return true;
  if (is_any(left, {",", ";", ":", "->", "=>", "+", "=", "{"})) return true;
  if (is_any(right, {"->", "=>", "+", "=", "{", "}"})) return true;
  if (is_word(right)) return is_any(left, {">", ")", "]", "}"});
  return is_any(left, {"mut", "const", "dyn", "as"}) && is_any(right, {"*", "&", "[", "(", "<"});
}

}  // namespace

RustTokens::RustTokens(std::string_view file, std::string_view text)
    : file_(file), tokens_(tokenize_rust(file, text)) {
  match_brackets();
}

void RustTokens::match_brackets() {
  partner_.resize(tokens_.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); ++i) {
    if (is_any(tokens_[i], {"(", "[", "{"})) {
      open.push_back(i);
    } else if (is_any(tokens_[i], {")", "]", "}"})) {
      if (open.empty()) fail_expected(i, "an opening bracket before this one");
      const RustToken& opening = tokens_[open.back()];
      if (!tokens_[i].is(closing_of(opening.text))) {
        fail_expected(i, "`" + std::string(closing_of(opening.text)) + "` to close the `" +
                             std::string(opening.text) + "` of line " +
                             std::to_string(opening.line));
      }
      partner_[open.back()] = i;
      open.pop_back();
    }
  }
  if (!open.empty()) {
    const std::string_view closing = closing_of(tokens_[open.back()].text);
    fail(open.back(), "expected `" + std::string(closing) + "` to close this `" +
                          std::string(tokens_[open.back()].text) + "`");
  }
}

const RustToken& RustTokens::operator[](std::size_t index) const {
  return tokens_[std::min(index, tokens_.size() - 1)];
}

bool RustTokens::opens_group(std::size_t index) const {
  return is_any((*this)[index], {"(", "[", "{"});
}

std::size_t RustTokens::behind(std::size_t index) const {
  return opens_group(index) ? partner_[index] + 1 : index + 1;
}

std::size_t RustTokens::find_outside(TokenRange range,
                                     std::initializer_list<std::string_view> wanted) const {
  std::size_t depth = 0;
  for (std::size_t i = range.begin; i < range.end; i = behind(i)) {
    const RustToken& token = (*this)[i];
    if (depth == 0 && (is_any(token, wanted) || token.is(">"))) return i;
    if (token.is("<")) ++depth;
    if (token.is(">")) --depth;
  }
  return range.end;
}

std::vector<TokenRange> RustTokens::split(TokenRange range, std::string_view separator) const {
  std::vector<TokenRange> parts;
  while (!range.empty()) {
    const std::size_t stop = find_outside(range, {separator});
    if (stop < range.end && !(*this)[stop].is(separator)) {
      fail_expected(stop, "`" + std::string(separator) + "` or the end of the list");
    }
    parts.push_back({range.begin, stop});
    range.begin = stop + 1;
  }
  return parts;
}

std::string RustTokens::spell(TokenRange range) const {
  std::string text;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (i != range.begin && needs_space((*this)[i - 1], (*this)[i])) text += ' ';
    text += (*this)[i].text;
  }
  return text;
}

void RustTokens::fail_expected(std::size_t index, std::string_view what) const {
  const RustToken& token = (*this)[index];
  constexpr std::size_t k_longest_quote = 40;
  std::string found = "the end of the file";
  if (token.kind != RustTokenKind::end) {
    const std::string_view shown = token.text.substr(0, token.text.find('\n'));
    found = shown.size() > k_longest_quote ? "a longer token" : "`" + std::string(shown) + "`";
  }
  fail(index, "expected " + std::string(what) + ", found " + found);
}

void RustTokens::fail(std::size_t index, std::string_view message) const {
  const RustToken& token = (*this)[index];
  throw Error(ErrorKind::kernel, message_at(file_, token.line, token.column, message));
}

}  // namespace teeny::tool
