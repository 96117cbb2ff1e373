// The source file `<target>_kernels.cpp` that carries the images.
#pragma once

#include <string>

#include "target_manifest.h"

namespace teeny::tool {

/// The file's text. It needs C++11; the bytes come in by `.incbin` or as string literals, aligned
/// to 64, in a read-only section, a NUL behind each. Each image's digest stands in the text, so
/// that a compiler cache sees a change of an image. Reads every image; throws Error(kernel) for one
/// that is no PTX.
[[nodiscard]] std::string embed_kernels(const TargetManifest& manifest);

}  // namespace teeny::tool
