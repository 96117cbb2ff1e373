// The text that is compiled for one kernel: the user's files, or the one function of them that is
// the kernel, and the generated entry point behind it.
//
// Everything here is a pure function of text. The prelude stands in front of the result and is not
// part of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend.h"
#include "rust_signature.h"

namespace teeny::tool {

struct SourceFile {
  std::string name;  // as messages show it
  std::string text;
};

// What a user says of a kernel.
struct KernelRequest {
  Frontend frontend = Frontend::triton;
  std::vector<SourceFile> sources;      // at least one, in the order in which they are compiled
  std::optional<std::string> function;  // FUNCTION
  std::optional<std::string> name;      // NAME: a function of that name is taken before others
  std::vector<std::string> types;       // TYPES
  std::vector<std::string> constants;   // CONSTANTS, each `NAME=value`
};

enum class ParameterKind { pointer, primitive };

// A parameter of the entry point, after instantiation.
struct KernelParameter {
  std::string name;  // a Rust identifier without `r#`; `arg<n>`, from 0, for a wildcard
  ParameterKind kind = ParameterKind::primitive;
  // A primitive's type, or a pointer's pointee as Rust writes it ("f32"). Of a ready-made entry
  // point's pointers it may be any Rust type.
  std::string dtype;
  Mutability mutability = Mutability::mutable_;  // of a pointer: constant for `*const` and `In<…>`
  Direction direction = Direction::unmarked;     // of a pointer
};

// A run of whole lines of one origin.
struct SourceSegment {
  std::optional<std::size_t> file;  // index in KernelRequest::sources; nothing: generated
  std::size_t first_line = 1;       // line of the file that the segment begins with
  std::string text;                 // ends with a line end, unless it is the last segment
};

struct KernelSource {
  std::string function;     // the name that ids and cache files carry
  std::string entry_point;  // the symbol in the compiled image
  std::vector<KernelParameter> parameters;
  std::string id_auto;  // `<function>__<type>…__<constant>…`, as the Rust macro makes it
  std::vector<SourceSegment> segments;

  // The segments in a row. With the prelude before it, this is what the compiler gets. Characters
  // of the user's files keep line and column.
  [[nodiscard]] std::string text() const;
};

// Chooses the kernel function and instantiates it.
//
// The function is the one that FUNCTION names, else the kernel function named NAME, else the only
// kernel function. For `triton` those are functions with `#[kernel]` or `#[tiled_kernel]` and
// ready-made entry points, else generic ones with a parameter bound by `Triton`; for `rust` they
// are `extern "ptx-kernel"` functions with a symbol of their own.
// Throws Error(usage) where an argument does not fit the source, with the parameter's name and what
// it may be; Error(kernel) `<file>:<line>:<column>: …` where the source itself can't be used.
[[nodiscard]] KernelSource make_kernel_source(const KernelRequest& request);

enum class LineOwner {
  prelude,
  source,     // a user's file
  generated,  // the entry point
  outside,    // behind the last line, or line 0
};

struct LineOrigin {
  LineOwner owner = LineOwner::outside;
  std::size_t file = 0;  // index in KernelRequest::sources, for `source`
  std::size_t line = 0;  // from 1, in the prelude or in the file; in `generated`, of its segment
};

// Tells where each line of the compiled text comes from.
class LineMap {
 public:
  // `prelude_lines` is the number of line ends in the prelude, whose last line has to have one.
  LineMap(const KernelSource& source, std::size_t prelude_lines);

  // The origin of a line of the compiled text, counted from 1.
  [[nodiscard]] LineOrigin find(std::size_t compiled_line) const;

 private:
  struct Run {
    std::size_t begin;  // its first compiled line
    LineOrigin origin;  // of that line
  };
  std::vector<Run> runs_;  // ascending; the last one is what lies outside
};

}  // namespace teeny::tool
