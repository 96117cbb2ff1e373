#include "rust_signature.h"

#include <initializer_list>
#include <utility>

#include "rust_function_reader.h"
#include "rust_tokens.h"

namespace teeny::tool {
namespace {

// Real programs stay far below; the bound keeps module paths, and so time and memory, small.
constexpr std::size_t k_deepest_module = 64;

std::string_view unquoted(std::string_view literal) {
  const std::size_t open = literal.find('"');
  const std::size_t close = literal.rfind('"');
  return open < close ? literal.substr(open + 1, close - open - 1) : std::string_view();
}

class ItemReader {
 public:
  ItemReader(std::string_view file, std::string_view text) : tokens_(file, text) {}

  std::vector<RustFunction> run() {
    scopes_.push_back({tokens_.size(), 0});
    while (!scopes_.empty()) {
      if (at_ < scopes_.back().end) {
        read_item();
      } else {
        leave_module();
      }
    }
    return std::move(functions_);
  }

 private:
  struct Scope {
    std::size_t end;         // index of the closing brace
    std::size_t outer_path;  // size of the path outside
  };

  [[nodiscard]] std::size_t scope_end() const { return scopes_.back().end; }

  [[nodiscard]] bool is_any(std::size_t index,
                            std::initializer_list<std::string_view> spellings) const {
    for (const std::string_view spelling : spellings) {
      if (tokens_[index].is(spelling)) return true;
    }
    return false;
  }

  void leave_module() {
    path_.resize(scopes_.back().outer_path);
    at_ = scopes_.back().end + 1;
    scopes_.pop_back();
  }

  void enter_module(std::size_t name) {
    if (scopes_.size() > k_deepest_module) {
      tokens_.fail(name, "modules are nested deeper than " + std::to_string(k_deepest_module));
    }
    scopes_.push_back({tokens_.behind(name + 1) - 1, path_.size()});
    path_ += std::string(tokens_[name].text) + "::";
    at_ = name + 2;
  }

  void read_item() {
    std::vector<RustAttribute> attributes = read_attributes();
    if (at_ >= scope_end()) {
      if (!attributes.empty()) tokens_.fail_expected(at_, "an item behind the attribute");
      return;
    }
    const std::size_t first = at_;
    if (tokens_[at_].is("pub")) at_ += tokens_[at_ + 1].is("(") ? tokens_.behind(at_ + 1) - at_ : 1;
    const std::string visibility = tokens_.spell({first, at_});
    if (skip_macro()) return;

    RustFunction function;
    std::size_t i = at_;
    for (; is_any(i, {"const", "async", "unsafe", "safe", "default", "gen"}); ++i) {
      function.qualifiers.emplace_back(tokens_[i].text);
    }
    if (tokens_[i].is("extern")) {
      const bool named = tokens_[++i].kind == RustTokenKind::string;
      function.abi = named ? unquoted(tokens_[i++].text) : "C";
    }
    if (!tokens_[i].is("fn")) {
      skip_item();
      return;
    }
    function.attributes = std::move(attributes);
    function.visibility = visibility;
    function.module_path = path_;
    function.range.begin = tokens_[first].offset;
    function.begin = location_of(tokens_[first]);
    at_ = read_function(tokens_, i, scope_end(), function);
    functions_.push_back(std::move(function));
  }

  // Outer attributes; inner ones are stepped over.
  std::vector<RustAttribute> read_attributes() {
    std::vector<RustAttribute> attributes;
    while (at_ < scope_end() && tokens_[at_].is("#")) {
      const bool inner = tokens_[at_ + 1].is("!");
      const std::size_t open = at_ + (inner ? 2 : 1);
      if (!tokens_[open].is("[")) tokens_.fail_expected(open, "`[` of an attribute");
      if (!inner) attributes.push_back(read_attribute(open));
      at_ = tokens_.behind(open);
    }
    return attributes;
  }

  [[nodiscard]] RustAttribute read_attribute(std::size_t open) const {
    RustAttribute attribute;
    attribute.location = location_of(tokens_[open - 1]);
    TokenRange content = {open + 1, tokens_.behind(open) - 1};
    attribute.text = tokens_.spell(content);
    if (tokens_[content.begin].is("unsafe") && tokens_[content.begin + 1].is("(")) {
      content = {content.begin + 2, tokens_.behind(content.begin + 1) - 1};
    }
    std::size_t i = content.begin;
    for (; i < content.end; ++i) {
      const bool name = tokens_[i].kind == RustTokenKind::identifier;
      if (!name && !tokens_[i].is("::")) break;
      attribute.path += tokens_[i].plain_name();
    }
    const bool is_value = tokens_[i].is("=") && i + 2 == content.end;
    if (is_value && tokens_[i + 1].kind == RustTokenKind::string) {
      attribute.value = unquoted(tokens_[i + 1].text);
    }
    return attribute;
  }

  // `path::name! { … }` and `macro_rules! name { … }`.
  bool skip_macro() {
    std::size_t i = at_ + (tokens_[at_].is("::") ? 1 : 0);
    while (tokens_[i + 1].is("::")) i += 2;
    if (tokens_[i].kind != RustTokenKind::identifier || !tokens_[i + 1].is("!")) return false;
    i += 2;
    if (tokens_[i].kind == RustTokenKind::identifier) ++i;
    if (!tokens_.opens_group(i)) tokens_.fail_expected(i, "`(`, `[` or `{` of a macro");
    at_ = tokens_.behind(i);
    if (tokens_[at_].is(";")) ++at_;
    return true;
  }

  void skip_item() {
    if (tokens_[at_].is(";")) {
      ++at_;
    } else if (tokens_[at_].is("mod")) {
      read_module();
    } else if (is_any(at_, {"use", "static", "type"}) || is_constant_item()) {
      const std::size_t begin = at_;
      while (at_ < scope_end() && !tokens_[at_].is(";")) at_ = tokens_.behind(at_);
      if (at_ >= scope_end()) {
        tokens_.fail_expected(at_, "`;` to end the `" + std::string(tokens_[begin].text) +
                                       "` of line " + std::to_string(tokens_[begin].line));
      }
      ++at_;
    } else if (is_any(at_, {"struct", "enum", "union", "trait", "impl", "extern", "auto", "macro",
                            "const", "async", "unsafe", "safe", "default", "gen"})) {
      const std::size_t stop = tokens_.find_outside({at_, scope_end()}, {"{", ";"});
      if (stop >= scope_end() || !is_any(stop, {"{", ";"})) {
        tokens_.fail_expected(stop, "`{` or `;` of the item");
      }
      at_ = tokens_.behind(stop);
    } else {
      tokens_.fail_expected(at_, "an item (fn, mod, use, struct, …)");
    }
  }

  void read_module() {
    const std::size_t name = at_ + 1;
    if (tokens_[name].kind != RustTokenKind::identifier) {
      tokens_.fail_expected(name, "the name of a module");
    }
    if (tokens_[name + 1].is("{")) {
      enter_module(name);
    } else if (tokens_[name + 1].is(";")) {
      at_ = name + 2;
    } else {
      tokens_.fail_expected(name + 1, "`{` or `;` behind the name of a module");
    }
  }

  // `const trait` and `const impl` end with their braces; only an item that is a value has a `;`.
  [[nodiscard]] bool is_constant_item() const {
    return tokens_[at_].is("const") &&
           !is_any(at_ + 1, {"trait", "impl", "unsafe", "auto", "async", "extern"});
  }

  RustTokens tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  std::string path_;
  std::vector<RustFunction> functions_;
};

}  // namespace

const RustAttribute* RustFunction::attribute(std::string_view attribute_name) const {
  for (const RustAttribute& each : attributes) {
    const std::string_view path = each.path;
    if (!path.ends_with(attribute_name)) continue;
    const std::string_view before = path.substr(0, path.size() - attribute_name.size());
    if (before.empty() || before.ends_with("::")) return &each;
  }
  return nullptr;
}

std::vector<RustFunction> parse_functions(std::string_view file, std::string_view text) {
  return ItemReader(file, text).run();
}

}  // namespace teeny::tool
