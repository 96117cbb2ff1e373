// Finds the functions of a Rust source file and reads their signatures.
//
// This is no Rust parser: it knows items, attributes, generics and arguments, and steps over
// bodies and macros as token trees. Pure functions of text; linear time for any input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teeny::tool {

struct SourceLocation {
  std::size_t line = 1;    // from 1
  std::size_t column = 1;  // from 1, in Unicode characters
};

struct SourceRange {  // half-open, in bytes of the file
  std::size_t begin = 0;
  std::size_t end = 0;
};

// An outer attribute `#[…]`. Of `#[unsafe(no_mangle)]` the path is `no_mangle`.
struct RustAttribute {
  std::string path;                  // "kernel", "teeny::kernel", "export_name"
  std::string text;                  // between the brackets, normalised: "kernel(dtypes = [f32])"
  std::optional<std::string> value;  // of `name = "value"`, without quotes or escapes
  SourceLocation location;
};

enum class GenericKind {
  lifetime,
  hardware,  // a type bound by `Triton` or a path that ends so
  dtype,     // any other type
  constant,
};

struct RustGeneric {
  GenericKind kind = GenericKind::dtype;
  std::string name;                 // without `r#`; a lifetime with its quote
  std::vector<std::string> bounds;  // last names of the bounds, those of the where clause behind
  std::string type;                 // of a constant
  std::string default_value;        // of a constant, as written; often empty
  SourceLocation location;
};

enum class ArgumentKind { pointer, primitive, other };
enum class Mutability { constant, mutable_ };
enum class Direction { unmarked, in, out, in_out };  // of `In<…>`, `Out<…>`, `InOut<…>`

struct RustArgument {
  // The name without `mut` and `r#`; `_` for a wildcard; empty when the pattern is not a name.
  std::string name;
  std::string spelling;  // the name as an expression has to write it: with `r#` where it is so
  std::string type;      // normalised, as written, a direction marker included
  ArgumentKind kind = ArgumentKind::other;
  std::string value_type;            // the pointee of a pointer; else the type without a marker
  bool is_hardware_pointer = false;  // `T::Pointer<…>`, not `*mut …`
  Mutability mutability = Mutability::mutable_;  // `*const` and `In<…>` are constant
  Direction direction = Direction::unmarked;
  // What to blank for the device: `In<` and its `>`. Both are empty without a marker.
  SourceRange marker_open;
  SourceRange marker_close;
  SourceLocation location;
};

struct RustFunction {
  std::string name;         // without `r#`
  std::string module_path;  // "" at top level, else "outer::inner::"
  std::string spelling;     // the name as an expression has to write it
  SourceLocation location;  // of the name
  std::vector<RustAttribute> attributes;
  std::string visibility;               // "", "pub", "pub(crate)", …
  std::vector<std::string> qualifiers;  // of const, async, unsafe, safe, default, gen, as written
  std::optional<std::string> abi;       // of `extern "abi"`; `extern` alone is "C"
  std::vector<RustGeneric> generics;
  std::vector<RustArgument> arguments;
  std::string return_type;   // empty without `->`
  std::string where_clause;  // without `where`
  bool has_body = true;      // false for `fn f();`
  // Visibility (or whatever comes first behind the attributes) to the end of the body, and where
  // that begins.
  SourceRange range;
  SourceLocation begin;

  // The attribute whose path is `name` or ends in `::name`; null when there is none.
  [[nodiscard]] const RustAttribute* attribute(std::string_view attribute_name) const;
};

// The primitive types that a kernel argument can have: bool, the sized integers up to 64 bits,
// isize, usize, f16, bf16, f32, f64.
[[nodiscard]] bool is_primitive_type(std::string_view type);

// The functions at top level and inside `mod name { … }`, in order. Those inside of functions,
// traits, impls, extern blocks and macros are not looked for. `file` is only used for messages.
// Throws Error(kernel), `<file>:<line>:<column>: expected …`, where the text can't be read.
[[nodiscard]] std::vector<RustFunction> parse_functions(std::string_view file,
                                                        std::string_view text);

// A kernel is its SOURCE files: throws Error(kernel) at the first `include!`, `include_str!`,
// `include_bytes!`, `#[path]`, `mod name;`, `env!` or `option_env!` that begins within `range`.
void check_self_contained(std::string_view file, std::string_view text, SourceRange range);
void check_self_contained(std::string_view file, std::string_view text);

}  // namespace teeny::tool
