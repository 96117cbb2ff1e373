#include "rust_function_reader.h"

#include <algorithm>

namespace teeny::tool {
namespace {

using GenericIndex = std::unordered_map<std::string_view, std::size_t>;

// The name that a bound goes by: `Num` of `teeny::Num`, of `(Num)` and of `Num<X = Y>`.
std::string bound_name(const RustTokens& tokens, TokenRange bound) {
  while (!bound.empty() && tokens[bound.begin].is("(") && tokens.behind(bound.begin) == bound.end) {
    bound = {bound.begin + 1, bound.end - 1};
  }
  std::string name;
  for (std::size_t i = bound.begin; i < bound.end; ++i) {
    const RustToken& token = tokens[i];
    if (tokens.opens_group(i) || token.is("<") || token.is("->")) break;
    if (token.kind == RustTokenKind::identifier) name = token.plain_name();
  }
  return name;
}

void add_bounds(const RustTokens& tokens, TokenRange bounds, RustGeneric& generic) {
  for (const TokenRange bound : tokens.split(bounds, "+")) {
    std::string name = bound_name(tokens, bound);
    if (!name.empty()) generic.bounds.push_back(std::move(name));
  }
}

void expect_identifier(const RustTokens& tokens, std::size_t index, std::string_view what) {
  if (tokens[index].kind != RustTokenKind::identifier) tokens.fail_expected(index, what);
}

std::size_t behind_attributes(const RustTokens& tokens, std::size_t index) {
  while (tokens[index].is("#") && tokens[index + 1].is("[")) index = tokens.behind(index + 1);
  return index;
}

RustGeneric read_generic(const RustTokens& tokens, TokenRange range) {
  RustGeneric generic;
  const bool constant = tokens[range.begin].is("const");
  const std::size_t at = constant ? range.begin + 1 : range.begin;
  generic.location = location_of(tokens[at]);
  generic.name = tokens[at].plain_name();
  const std::size_t next = at + 1;
  if (tokens[at].kind == RustTokenKind::lifetime) {
    generic.kind = GenericKind::lifetime;
    return generic;
  }
  expect_identifier(tokens, at, constant ? "the name of a constant" : "a generic parameter");
  const std::size_t equals = tokens.find_outside({next, range.end}, {"="});
  if (constant) {
    generic.kind = GenericKind::constant;
    if (next >= range.end || !tokens[next].is(":")) {
      tokens.fail_expected(next, "`:` and the type of the constant `" + generic.name + "`");
    }
    generic.type = tokens.spell({next + 1, equals});
    if (generic.type.empty()) tokens.fail_expected(next + 1, "the type of `" + generic.name + "`");
    generic.default_value = tokens.spell({equals + 1, range.end});
  } else if (next < equals) {
    if (!tokens[next].is(":")) tokens.fail_expected(next, "`:`, `,` or `>`");
    add_bounds(tokens, {next + 1, equals}, generic);
  }
  return generic;
}

std::size_t read_generics(const RustTokens& tokens, std::size_t index, std::size_t scope_end,
                          RustFunction& function) {
  std::size_t i = index + 1;
  for (;;) {
    const std::size_t stop = tokens.find_outside({i, scope_end}, {","});
    if (stop == scope_end) {
      tokens.fail_expected(scope_end,
                           "`>` to close the generic parameters of `" + function.name + "`");
    }
    const std::size_t begin = behind_attributes(tokens, i);
    if (begin < stop) {
      function.generics.push_back(read_generic(tokens, {begin, stop}));
    } else if (!tokens[stop].is(">")) {
      tokens.fail_expected(stop, "a generic parameter");
    }
    if (tokens[stop].is(">")) return stop + 1;
    i = stop + 1;
  }
}

void read_where_clause(const RustTokens& tokens, TokenRange clause, RustFunction& function) {
  function.where_clause = tokens.spell(clause);
  GenericIndex types;
  for (std::size_t i = 0; i < function.generics.size(); ++i) {
    if (function.generics[i].kind == GenericKind::dtype) types[function.generics[i].name] = i;
  }
  for (const TokenRange predicate : tokens.split(clause, ",")) {
    if (!tokens[predicate.begin + 1].is(":")) continue;
    const auto found = types.find(tokens[predicate.begin].plain_name());
    if (found == types.end()) continue;
    add_bounds(tokens, {predicate.begin + 2, predicate.end}, function.generics[found->second]);
  }
}

void find_hardware(std::vector<RustGeneric>& generics) {
  for (RustGeneric& generic : generics) {
    if (generic.kind != GenericKind::dtype) continue;
    const auto& bounds = generic.bounds;
    if (std::find(bounds.begin(), bounds.end(), "Triton") != bounds.end()) {
      generic.kind = GenericKind::hardware;
    }
  }
}

// An argument without its type; the result is the range of the type.
TokenRange read_pattern(const RustTokens& tokens, TokenRange range, RustArgument& argument) {
  const std::size_t begin = behind_attributes(tokens, range.begin);
  argument.location = location_of(tokens[begin]);
  const std::size_t colon = tokens.find_outside({begin, range.end}, {":"});
  if (begin >= range.end || colon == range.end || !tokens[colon].is(":")) {
    tokens.fail_expected(colon, "an argument of the form `name: type`");
  }
  const std::size_t name = tokens[begin].is("mut") ? begin + 1 : begin;
  if (name + 1 == colon && tokens[name].kind == RustTokenKind::identifier) {
    argument.name = tokens[name].plain_name();
    argument.spelling = tokens[name].text;
    argument.location = location_of(tokens[name]);
  }
  if (colon + 1 >= range.end) tokens.fail_expected(colon + 1, "the type of this argument");
  return {colon + 1, range.end};
}

void read_arguments(const RustTokens& tokens, TokenRange list, std::vector<TokenRange>& types,
                    RustFunction& function) {
  for (const TokenRange part : tokens.split(list, ",")) {
    RustArgument& argument = function.arguments.emplace_back();
    types.push_back(read_pattern(tokens, part, argument));
    argument.type = tokens.spell(types.back());
  }
}

// From behind the arguments to the body; the result is the index of `{` or `;`.
std::size_t read_return_and_where(const RustTokens& tokens, std::size_t index,
                                  std::size_t scope_end, RustFunction& function) {
  const std::string of_function = " of `" + function.name + "`";
  if (tokens[index].is("->")) {
    const std::size_t stop = tokens.find_outside({index + 1, scope_end}, {"where", "{", ";"});
    function.return_type = tokens.spell({index + 1, stop});
    if (function.return_type.empty()) {
      tokens.fail_expected(stop, "the return type" + of_function);
    }
    index = stop;
  }
  if (index < scope_end && tokens[index].is("where")) {
    const std::size_t stop = tokens.find_outside({index + 1, scope_end}, {"{", ";"});
    read_where_clause(tokens, {index + 1, stop}, function);
    index = stop;
  }
  if (index >= scope_end || !(tokens[index].is("{") || tokens[index].is(";"))) {
    tokens.fail_expected(index, "`{` to begin the body" + of_function);
  }
  return index;
}

}  // namespace

SourceLocation location_of(const RustToken& token) { return {token.line, token.column}; }

std::size_t read_function(const RustTokens& tokens, std::size_t index, std::size_t scope_end,
                          RustFunction& function) {
  std::size_t i = index + 1;
  expect_identifier(tokens, i, "the name of a function");
  function.name = tokens[i].plain_name();
  function.spelling = tokens[i].text;
  function.location = location_of(tokens[i]);
  ++i;
  if (tokens[i].is("<")) i = read_generics(tokens, i, scope_end, function);
  if (!tokens[i].is("(")) {
    tokens.fail_expected(i, "`(` to begin the arguments of `" + function.name + "`");
  }
  std::vector<TokenRange> types;
  read_arguments(tokens, {i + 1, tokens.behind(i) - 1}, types, function);
  const std::size_t body = read_return_and_where(tokens, tokens.behind(i), scope_end, function);
  // Only now all bounds are known, and with them the hardware parameter that pointers go by.
  find_hardware(function.generics);
  GenericKinds kinds;
  for (const RustGeneric& generic : function.generics) kinds[generic.name] = generic.kind;
  for (std::size_t n = 0; n < types.size(); ++n) {
    classify_argument(tokens, types[n], kinds, function.arguments[n]);
  }
  function.has_body = tokens[body].is("{");
  const std::size_t end = tokens.behind(body);
  function.range.end = tokens[end - 1].end_offset();
  return end;
}

}  // namespace teeny::tool
