// Where the compilers are, for use by hand. Builds are told by CMake.
#pragma once

#include <filesystem>

#include "frontend.h"

namespace teeny::tool {

/// For `triton`: $TEENYC_PATH, else the only rustup toolchain whose name contains `teenyc`; never a
/// `teenyc` on PATH. For `rust`: $TEENY_RUSTC_EXECUTABLE, else teenyc as above, else `rustc` on
/// PATH. A rustup proxy is resolved to the binary. Throws Error(environment) that lists what was
/// seen and how to choose.
[[nodiscard]] std::filesystem::path find_compiler(Frontend frontend);

}  // namespace teeny::tool
