// The text in front of a kernel.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernel_spec.h"

namespace teeny::tool {

/// The no_core device prelude of FRONTEND rust, as built into this program.
[[nodiscard]] std::string_view device_prelude();

/// The prelude of a kernel: the file it names, nothing for NONE, else the device prelude. FRONTEND
/// triton has no default: Error(usage). Ends with a line end unless it is empty.
[[nodiscard]] std::string read_prelude(const KernelSpec& spec);

/// The triton prelude, put together from a teeny-triton crate as its build script does it, but in
/// the order of names where the script takes the order of the directory: `src/triton/**` as nested
/// modules in front of which stands core.rs; `types.rs` are teeny-core's dtype/mod.rs; `dummy`
/// folders, module declarations and uses of `bytes` are left out.
/// `from` is the crate, or a checkout of teenygrad. Throws Error(usage) that says what is missing.
[[nodiscard]] std::string assemble_triton_prelude(const std::filesystem::path& from);

}  // namespace teeny::tool
