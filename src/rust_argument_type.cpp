#include <algorithm>
#include <array>
#include <optional>

#include "rust_function_reader.h"

namespace teeny::tool {
namespace {

constexpr std::array<std::string_view, 15> k_primitives = {"bool",  "i8",  "i16",  "i32", "i64",
                                                           "u8",    "u16", "u32",  "u64", "isize",
                                                           "usize", "f16", "bf16", "f32", "f64"};

bool is_generic(const GenericKinds& generics, GenericKind kind, const RustToken& token) {
  if (token.kind != RustTokenKind::identifier) return false;
  const auto found = generics.find(token.plain_name());
  return found != generics.end() && found->second == kind;
}

// What `<…>` holds when it opens at `open` and closes at the very end of the range.
std::optional<TokenRange> enclosed(const RustTokens& tokens, std::size_t open, std::size_t end) {
  if (open + 2 >= end || !tokens[open].is("<") || !tokens[end - 1].is(">")) return std::nullopt;
  if (tokens.find_outside({open + 1, end}, {}) != end - 1) return std::nullopt;
  return TokenRange{open + 1, end - 1};
}

std::optional<Direction> direction_named(std::string_view name) {
  if (name == "In") return Direction::in;
  if (name == "Out") return Direction::out;
  if (name == "InOut") return Direction::in_out;
  return std::nullopt;
}

// Takes `In<…>`, `Out<…>`, `InOut<…>` (also behind a path) off the type.
TokenRange strip_marker(const RustTokens& tokens, TokenRange type, RustArgument& argument) {
  std::size_t last = type.begin + (tokens[type.begin].is("::") ? 1 : 0);
  while (last + 2 < type.end && tokens[last + 1].is("::")) last += 2;
  const std::optional<Direction> direction = direction_named(tokens[last].plain_name());
  std::optional<TokenRange> inner = enclosed(tokens, last + 1, type.end);
  if (!direction || !inner) return type;
  const std::size_t comma = tokens.find_outside(*inner, {","});
  if (comma + 1 < inner->end) return type;
  inner->end = comma;
  if (inner->empty()) return type;
  argument.direction = *direction;
  argument.marker_open = {tokens[type.begin].offset, tokens[inner->begin].offset};
  argument.marker_close = {tokens[inner->end - 1].end_offset(), tokens[type.end - 1].end_offset()};
  return *inner;
}

// The pointee of `T::Pointer<…>` or `<T as …>::Pointer<…>`, where T is a hardware parameter.
std::optional<TokenRange> hardware_pointee(const RustTokens& tokens, TokenRange type,
                                           const GenericKinds& generics) {
  std::size_t hardware = type.begin;
  std::size_t behind = type.begin + 1;
  if (tokens[type.begin].is("<")) {
    hardware = type.begin + 1;
    behind = tokens.find_outside({hardware, type.end}, {}) + 1;
    if (hardware + 2 != behind && !tokens[hardware + 1].is("as")) return std::nullopt;
  }
  if (!is_generic(generics, GenericKind::hardware, tokens[hardware])) return std::nullopt;
  if (!tokens[behind].is("::") || tokens[behind + 1].plain_name() != "Pointer") return std::nullopt;
  return enclosed(tokens, behind + 2, type.end);
}

}  // namespace

bool is_primitive_type(std::string_view type) {
  return std::find(k_primitives.begin(), k_primitives.end(), type) != k_primitives.end();
}

void classify_argument(const RustTokens& tokens, TokenRange type, const GenericKinds& generics,
                       RustArgument& argument) {
  type = strip_marker(tokens, type, argument);
  argument.value_type = tokens.spell(type);
  if (argument.direction == Direction::in) argument.mutability = Mutability::constant;
  const RustToken& first = tokens[type.begin];
  const bool is_const = tokens[type.begin + 1].is("const");
  if (const auto pointee = hardware_pointee(tokens, type, generics)) {
    argument.kind = ArgumentKind::pointer;
    argument.is_hardware_pointer = true;
    argument.value_type = tokens.spell(*pointee);
  } else if (first.is("*") && type.size() > 2 && (is_const || tokens[type.begin + 1].is("mut"))) {
    argument.kind = ArgumentKind::pointer;
    if (is_const) argument.mutability = Mutability::constant;
    argument.value_type = tokens.spell({type.begin + 2, type.end});
  } else if (type.size() == 1 && argument.direction == Direction::unmarked &&
             (is_primitive_type(first.text) || is_generic(generics, GenericKind::dtype, first))) {
    argument.kind = ArgumentKind::primitive;
  }
}

}  // namespace teeny::tool
