// The header `<target>_kernels.hpp` that C++ includes.
#pragma once

#include <string>

#include "target_manifest.h"

namespace teeny::tool {

/// The header's text. It depends on names, on the signatures in the sources (which it reads), and
/// on the number of images only, so that editing a kernel's body leaves it as it is. Throws Error
/// for a source that can't be read or instantiated.
[[nodiscard]] std::string declare_kernels(const TargetManifest& manifest);

}  // namespace teeny::tool
