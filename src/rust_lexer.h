// Cuts Rust source text into tokens, as far as finding items and signatures needs it.
//
// The lexer is made for any bytes at all: it takes linear time, needs no recursion, and treats
// what Rust would refuse (a stray backslash, a NUL, invalid UTF-8) as a token of its own. The rules
// are those of the Rust reference, chapter "Lexical structure".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace teeny::tool {

enum class RustTokenKind {
  identifier,   // also keywords, `_`, and raw identifiers (r#match)
  lifetime,     // 'a
  number,       // 1, 0xff_u8, 1.5e-3f32; never with a sign
  string,       // "…", r#"…"#, b"…", br"…", c"…", cr"…"
  character,    // 'x', b'x'
  punctuation,  // one character, apart from `::`, `->` and `=>`
  end,          // the last token of every list; its text is empty
};

struct RustToken {
  RustTokenKind kind = RustTokenKind::end;
  std::string_view text;   // a view of the source, as it is written there
  std::size_t offset = 0;  // bytes from the begin of the source
  std::size_t line = 1;    // counted from 1; a line ends at LF, so CRLF is one line end
  std::size_t column = 1;  // counted from 1 in Unicode characters, as rustc prints it

  // Whether this is the given keyword or punctuation. A raw identifier is never a keyword.
  [[nodiscard]] bool is(std::string_view spelling) const {
    return text == spelling &&
           (kind == RustTokenKind::identifier || kind == RustTokenKind::punctuation);
  }
  // The identifier without a leading `r#`; the text itself for other tokens.
  [[nodiscard]] std::string_view plain_name() const;
  // The offset of the first byte behind the token.
  [[nodiscard]] std::size_t end_offset() const { return offset + text.size(); }
};

// The tokens of `text`, which must outlive them, closed by one `end` token. White space, comments
// and doc comments are left out, and so are a byte-order mark and a `#!` line at the start.
// `file` is only used for messages.
// Throws Error(kernel), `<file>:<line>:<column>: expected …`, at the start of a block comment,
// string or character that is never closed.
[[nodiscard]] std::vector<RustToken> tokenize_rust(std::string_view file, std::string_view text);

// The number of bytes at the start of `text` that belong to the file and not to the program: the
// byte-order mark and the `#!` line (without its line end).
[[nodiscard]] std::size_t rust_preamble_size(std::string_view text);

// The size in bytes of a byte-order mark at the start of `text`: 3 or 0.
[[nodiscard]] std::size_t byte_order_mark_size(std::string_view text);

// `<file>:<line>:<column>: <message>`, the form of every complaint about a place in a source.
[[nodiscard]] std::string message_at(std::string_view file, std::size_t line, std::size_t column,
                                     std::string_view message);

}  // namespace teeny::tool
