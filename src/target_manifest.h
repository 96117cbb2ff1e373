// What CMake tells `declare` and `embed` about one target: a JSON file written at generate time.
//
//     {"target": "app", "namespace": "app_kernels", "visibility": "hidden", "embed": "incbin",
//      "directory": "/…/teeny/app", "configuration_directory": "/…/teeny/app/Debug",
//      "kernels": [{"name": "saxpy", "frontend": "rust", "function": "", "types": [],
//                   "constants": [], "prelude": "/…/prelude.rs", "sources": ["/…/saxpy.rs"],
//                   "per_configuration": false, "images": ["saxpy.sm_80.ptx", …]}, …]}
//
// Images lie in `directory`, those whose options differ between build configurations in
// `configuration_directory`. `declare` reads no images, so its file leaves that directory out and
// is the same for all configurations.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend.h"

namespace teeny::tool {

/// Whether other libraries may use the kernels of this one.
enum class Visibility { hidden, exported };

/// How the bytes get into the generated source file.
enum class EmbedMethod {
  incbin,   ///< the assembler reads the image files
  literal,  ///< string literals, for compilers that run where the image files are not
};

/// One kernel of a target.
struct TargetKernel {
  std::string name;
  Frontend frontend = Frontend::triton;
  std::string function;  ///< empty: chosen by name, else the only one
  std::vector<std::string> types;
  std::vector<std::string> constants;  ///< `NAME=value`
  std::string prelude;                 ///< a file, or NONE
  std::vector<std::filesystem::path> sources;
  std::vector<std::filesystem::path> images;  ///< one file per architecture, in order
};

/// All that a target embeds; kernels sorted by name, as generated code has them.
struct TargetManifest {
  std::string target;
  std::string name_space;
  Visibility visibility = Visibility::hidden;
  EmbedMethod embed = EmbedMethod::incbin;
  std::vector<TargetKernel> kernels;
};

/// Throws Error(usage) for a file that is not of this form, SystemError for one that can't be read.
[[nodiscard]] TargetManifest read_target_manifest(const std::filesystem::path& path);

/// The C++ name of the array of a target's images, which two targets never share: characters other
/// than letters and digits stand as their code.
[[nodiscard]] std::string image_array_name(const std::string& target);

}  // namespace teeny::tool
