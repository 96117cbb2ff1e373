// PTX text as data: metadata of a kernel, the structural check of a compiler's output, and the
// text without debug sections. Pure functions.
//
// Sources: PTX ISA (directives .version, .target, .entry, .reqntid, .maxntid, .loc, .file,
// .section); the `// --- triton-metadata ---` trailer and its fallbacks as the Rust runtime reads
// them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teeny::tool {

/// What a launcher has to know of one compiled kernel.
struct PtxMetadata {
  std::string entry;                      ///< symbol of the `.entry`
  std::string target;                     ///< first word of `.target`, such as sm_90a
  std::uint32_t ptx_version = 0;          ///< major * 10 + minor of `.version`
  std::uint32_t num_warps = 0;            ///< warps per block
  std::uint32_t num_ctas = 1;             ///< blocks per cluster
  std::uint32_t shared = 0;               ///< dynamic shared memory, bytes
  std::uint32_t tmem_size = 0;            ///< tensor memory, as the trailer gives it
  std::uint64_t global_scratch_size = 0;  ///< bytes per block
  std::uint64_t global_scratch_align = 1;
  std::uint64_t profile_scratch_size = 0;  ///< bytes per block
  std::uint64_t profile_scratch_align = 1;
  /// Threads per block that the kernel demands (.reqntid); {0, 0, 0} where it demands none.
  std::array<std::uint32_t, 3> required_threads{};
};

/// Reads the metadata of the kernel `entry` (empty: of the one that the trailer names, else of the
/// first `.entry`). The trailer's `// meta:key=value` lines win over the older comment forms, which
/// win over the directives; a number that can't be read counts as absent. Without any word on it
/// num_warps is required_threads.x / 32 rounded up, and 0 if that is not given either.
[[nodiscard]] PtxMetadata parse_ptx_metadata(std::string_view ptx, std::string_view entry = {});

/// Names of all `.entry` symbols, in order.
[[nodiscard]] std::vector<std::string> ptx_entries(std::string_view ptx);

/// The types of an entry's parameters, in order, without the dot: `u64`, `f32`; `b8[16]` for an
/// array. Empty when there is no such entry.
[[nodiscard]] std::vector<std::string> ptx_parameters(std::string_view ptx, std::string_view entry);

/// Why `ptx` can't be the whole output of a compiler: no .version/.target header, no entry point,
/// unbalanced braces, a NUL byte, no final newline. Empty when it can.
[[nodiscard]] std::optional<std::string> ptx_fault(std::string_view ptx);

/// The text without its debug sections, `.file` and `.loc` lines and `debug` target option. The
/// driver's loader rejects their relocations, and they carry paths of the machine that compiled.
[[nodiscard]] std::string strip_ptx_debug(std::string_view ptx);

}  // namespace teeny::tool
