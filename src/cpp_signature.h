// A Rust kernel's parameters in the words of teeny/kernel.hpp. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "kernel_source.h"

namespace teeny::tool {

/// The C++ type of a parameter: `std::uint32_t`, `float`, `::teeny::DevicePointer<const float>`.
/// A pointer to what is no number is a DevicePointer to (const) void.
[[nodiscard]] std::string cpp_type(const KernelParameter& parameter);

/// The parameters as a comment shows them, in Rust's words: `n: u32, x: *const f32`.
[[nodiscard]] std::string rust_parameters(const std::vector<KernelParameter>& parameters);

}  // namespace teeny::tool
