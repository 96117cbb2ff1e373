#include <algorithm>
#include <array>
#include <string>

#include "rust_signature.h"
#include "rust_tokens.h"

namespace teeny::tool {
namespace {

constexpr std::array<std::string_view, 3> k_including = {"include", "include_str", "include_bytes"};
constexpr std::array<std::string_view, 2> k_environment = {"env", "option_env"};

template <std::size_t N>
bool is_one_of(const RustToken& token, const std::array<std::string_view, N>& names) {
  if (token.kind != RustTokenKind::identifier) return false;
  for (const std::string_view name : names) {
    if (token.plain_name() == name) return true;
  }
  return false;
}

[[noreturn]] void refuse_file(const RustTokens& tokens, std::size_t index, std::string_view what) {
  tokens.fail(index, "`" + std::string(what) +
                         "` reads another file, but a kernel is its SOURCE files alone: list that "
                         "file under SOURCE");
}

void refuse_macro(const RustTokens& tokens, std::size_t index) {
  const RustToken& token = tokens[index];
  const std::string call = std::string(token.plain_name()) + "!";
  if (is_one_of(token, k_including)) refuse_file(tokens, index, call);
  if (is_one_of(token, k_environment)) {
    tokens.fail(index, "`" + call +
                           "` reads the environment, which is not part of a kernel: pass the "
                           "value under CONSTANTS");
  }
}

// `name!(`; `name != (` has a `=` there, and `$name!(` is a parameter of a macro.
bool is_macro_call(const RustTokens& tokens, std::size_t index) {
  const bool is_parameter = index > 0 && tokens[index - 1].is("$");
  return tokens[index + 1].is("!") && tokens.opens_group(index + 2) && !is_parameter;
}

// `use core::env as e` would give the macro a name that is not looked for.
bool is_renamed_import(const RustTokens& tokens, std::size_t index) {
  return tokens[index + 1].is("as") && index > 0 &&
         (tokens[index - 1].is("::") || tokens[index - 1].is("{") || tokens[index - 1].is(","));
}

class Checker {
 public:
  explicit Checker(const RustTokens& tokens) : tokens_(tokens) {}

  // Takes the tokens in order.
  void check(std::size_t index) {
    if (is_macro_call(tokens_, index) || is_renamed_import(tokens_, index)) {
      refuse_macro(tokens_, index);
    }
    if (tokens_[index].is("mod") && tokens_[index + 1].kind == RustTokenKind::identifier &&
        tokens_[index + 2].is(";")) {
      refuse_file(tokens_, index, "mod " + std::string(tokens_[index + 1].text) + ";");
    }
    if (tokens_[index].is("#")) note_attribute(index);
    if (index < path_end_ && tokens_[index].plain_name() == "path" && tokens_[index + 1].is("=")) {
      refuse_file(tokens_, index, "#[path]");
    }
  }

 private:
  // `path = …` counts where it is the attribute itself, and anywhere in a `cfg_attr`.
  void note_attribute(std::size_t index) {
    const std::size_t open = index + (tokens_[index + 1].is("!") ? 2 : 1);
    if (!tokens_[open].is("[")) return;
    const bool conditional = tokens_[open + 1].plain_name() == "cfg_attr";
    path_end_ = std::max(path_end_, conditional ? tokens_.behind(open) : open + 2);
  }

  const RustTokens& tokens_;
  std::size_t path_end_ = 0;
};

}  // namespace

void check_self_contained(std::string_view file, std::string_view text, SourceRange range) {
  const RustTokens tokens(file, text);
  Checker checker(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].offset >= range.begin && tokens[i].offset < range.end) checker.check(i);
  }
}

void check_self_contained(std::string_view file, std::string_view text) {
  check_self_contained(file, text, {0, text.size()});
}

}  // namespace teeny::tool
