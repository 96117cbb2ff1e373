// GPU architectures in all the spellings that users of CMake, CUDA and LLVM have for them, and PTX
// ISA versions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace teeny::tool {

/// A compute capability with its optional suffix: `a` (this capability only) or `f` (its family).
struct Architecture {
  unsigned capability = 0;  ///< major * 10 + minor: 90 for compute capability 9.0
  char suffix = '\0';       ///< '\0', 'a' or 'f'

  /// As compilers spell it: `sm_90`, `sm_90a`.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Architecture&, const Architecture&) = default;
};

/// Reads `sm_90`, `sm-90`, `SM90`, `90`, `90a`, and CMake's `90-real` and `90-virtual`, which mean
/// the same PTX. Anything else is an Error of kind usage that says what is accepted.
[[nodiscard]] Architecture parse_architecture(std::string_view text);

/// Reads a PTX ISA version as major.minor (`8.2`) or major * 10 + minor (`82`); returns the
/// latter. Anything else is an Error of kind usage.
[[nodiscard]] std::uint32_t parse_ptx_version(std::string_view text);

}  // namespace teeny::tool
