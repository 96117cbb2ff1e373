// How a generated `<target>_kernels.cpp` hands its images to teeny/kernel.hpp. Not for direct use.
// Needs C++11 only, because the generated file is compiled with the target's own standard.
#pragma once

#include <cstddef>
#include <cstdint>

namespace teeny {
namespace detail {

struct ImageData {
  const char* bytes;          // `size` bytes and a NUL; aligned to 64
  std::size_t size;           // without the NUL
  const char* sha256;         // of the bytes; lower-case hex
  const char* entry;          // symbol of the entry point
  std::uint8_t format;        // 0: PTX text, 1: cubin
  char suffix;                // of the architecture: '\0', 'a' or 'f'
  std::uint16_t capability;   // major * 10 + minor
  std::uint32_t ptx_version;  // major * 10 + minor
  std::uint32_t num_warps;
  std::uint32_t num_ctas;
  std::uint32_t shared;
  std::uint32_t tmem_size;
  std::uint32_t required_threads[3];
  std::uint64_t global_scratch_size;
  std::uint64_t global_scratch_align;
  std::uint64_t profile_scratch_size;
  std::uint64_t profile_scratch_align;
};

}  // namespace detail
}  // namespace teeny
