// The steps of make_kernel_source. Private to kernel_source.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernel_source.h"

namespace teeny::tool {

enum class CandidateKind {
  marked,      // has `#[kernel]` or `#[tiled_kernel]`
  generic,     // has a parameter bound by `Triton`
  ready_made,  // is an entry point already
};

struct Candidate {
  CandidateKind kind = CandidateKind::generic;
  std::size_t file = 0;  // index in KernelRequest::sources
  std::string function;  // the kernel's name: of a ready-made one without `_entry_point`
  std::string symbol;    // of a ready-made one
  RustFunction signature;
};

// The kernel function that the request asks for; throws as make_kernel_source does.
[[nodiscard]] Candidate choose_function(const KernelRequest& request);

// A generic function's arguments bound to values.
struct Instantiation {
  std::vector<KernelParameter> parameters;
  std::string id;
  std::string entry_point_text;  // without a line end at the end
};

[[nodiscard]] Instantiation instantiate(const KernelRequest& request, const Candidate& candidate);

// The parameters of an entry point that is taken as it is.
[[nodiscard]] std::vector<KernelParameter> declared_parameters(const KernelRequest& request,
                                                               const Candidate& candidate);

// The values of the constants in the order of declaration, normalised: decimal numbers, `true`,
// `false`, a character without quotes. Throws Error(usage) and, for a type that can't be given,
// Error(kernel).
[[nodiscard]] std::vector<std::string> bind_constants(const KernelRequest& request,
                                                      const Candidate& candidate);

// The types of the dtype parameters in the order of declaration. Throws Error(usage).
[[nodiscard]] std::vector<std::string> bind_types(const KernelRequest& request,
                                                  const Candidate& candidate);

// Throws Error(kernel) `<file>:<line>:<column>: <message>`.
[[noreturn]] void fail_at(const KernelRequest& request, const Candidate& candidate,
                          SourceLocation location, std::string_view message);

// "a", "a or b", "a, b or c".
[[nodiscard]] std::string alternatives(const std::vector<std::string>& words);

}  // namespace teeny::tool
