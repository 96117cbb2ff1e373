// What the readers of Rust items share: matched brackets, complaints about a token, and the
// spelling of a run of tokens.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "rust_lexer.h"

namespace teeny::tool {

// A half-open range of token indices.
struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] std::size_t size() const { return empty() ? 0 : end - begin; }
};

// The tokens of one file with every bracket's partner known.
class RustTokens {
 public:
  // Both views must outlive the object. Throws Error(kernel) at a bracket without a partner, and
  // what tokenize_rust throws.
  RustTokens(std::string_view file, std::string_view text);

  // The token at an index; the `end` token for every index behind the last one.
  [[nodiscard]] const RustToken& operator[](std::size_t index) const;
  // The number of tokens without the `end` token.
  [[nodiscard]] std::size_t size() const { return tokens_.size() - 1; }

  // Whether a `(`, `[` or `{` stands at the index.
  [[nodiscard]] bool opens_group(std::size_t index) const;
  // The index behind the group that opens at `index`; `index + 1` for any other token.
  [[nodiscard]] std::size_t behind(std::size_t index) const;

  // The first index in the range, at no depth of brackets or `<…>`, whose token is one of
  // `wanted`; the range's end when there is none. A `>` at no depth ends the search as well.
  [[nodiscard]] std::size_t find_outside(TokenRange range,
                                         std::initializer_list<std::string_view> wanted) const;
  // The parts between `separator` tokens at no depth; an empty part at the end is left out.
  [[nodiscard]] std::vector<TokenRange> split(TokenRange range, std::string_view separator) const;

  // The tokens with single spaces where words would run together and where people put them.
  [[nodiscard]] std::string spell(TokenRange range) const;

  // Throws Error(kernel) `<file>:<line>:<column>: expected <what>, found <token>`.
  [[noreturn]] void fail_expected(std::size_t index, std::string_view what) const;
  // Throws Error(kernel) `<file>:<line>:<column>: <message>`.
  [[noreturn]] void fail(std::size_t index, std::string_view message) const;

 private:
  void match_brackets();

  std::string_view file_;
  std::vector<RustToken> tokens_;
  std::vector<std::size_t> partner_;  // by index; meaningful for opening brackets only
};

}  // namespace teeny::tool
