// `rust-project.json`, by which rust-analyzer understands kernels that belong to no cargo package.
//
// Source of the format: rust-analyzer's manual, "Non-Cargo Based Projects".
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "target_manifest.h"

namespace teeny::tool {

/// A file of the project: where it goes and what it says.
using ProjectFile = std::pair<std::filesystem::path, std::string>;

/// The project's files, `output` (the JSON) last. Each kernel is a crate; its root, in a folder
/// beside `output`, has the prelude's text and includes the kernel's own files, so that the editor
/// sees what the compiler sees. Reads the preludes; one that is not there yet is left out.
[[nodiscard]] std::vector<ProjectFile> rust_project(const std::vector<TargetManifest>& manifests,
                                                    const std::filesystem::path& output);

}  // namespace teeny::tool
