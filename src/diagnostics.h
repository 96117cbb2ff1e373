// A compiler's messages, turned from the text it was given to the files of the user: paths, line
// numbers, and the numbers in the gutter.
//
// Source of the form: rustc's human-readable diagnostics (`error: …`, `  --> file:line:column`,
// source lines behind a gutter of line numbers) and its JSON lines (`--error-format=json`).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace teeny::tool {

/// Where a line of the compiled text comes from.
struct TextOrigin {
  std::string file;  ///< as it is to be shown
  std::size_t line = 0;
};

/// The origin of a line (from 1) of the compiled text.
using FindOrigin = std::function<TextOrigin(std::size_t line)>;

/// Rewrites all places in `file` (the compiled text, as the messages name it). Messages about other
/// files, and text that is no diagnostic, stay as they are; so do terminal colours. In JSON lines
/// the byte offsets are those of the compiled text.
[[nodiscard]] std::string remap_diagnostics(std::string_view text, std::string_view file,
                                            const FindOrigin& origin);

/// The text without terminal escape sequences (ECMA-48 CSI).
[[nodiscard]] std::string without_colours(std::string_view text);

/// Whether messages on standard error may have colours: it is a terminal, or $CLICOLOR_FORCE asks
/// for them, as Ninja's users do; and $NO_COLOR is not set.
[[nodiscard]] bool wants_colours();

}  // namespace teeny::tool
