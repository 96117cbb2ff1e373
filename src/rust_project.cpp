#include "rust_project.h"

#include <nlohmann/json.hpp>
#include <set>

#include "error.h"
#include "file.h"
#include "kernel_spec.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string crate_root(const TargetKernel& kernel) {
  std::string text;
  try {
    text = read_file(kernel.prelude);
  } catch (const SystemError&) {
    // Assembled when the project is built; then this is run again.
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  // A no_core crate has no macros but its own.
  text += "#[rustc_builtin_macro]\nmacro_rules! include { ($file:expr $(,)?) => {{}}; }\n";
  for (const fs::path& source : kernel.sources) {
    // A Rust string literal has the escapes of JSON that matter for paths.
    text += "include!(" + Json(source.string()).dump() + ");\n";
  }
  return text;
}

Json crate_of(const TargetKernel& kernel, const fs::path& root) {
  std::set<std::string> folders = {root.parent_path().string()};
  for (const fs::path& source : kernel.sources) folders.insert(source.parent_path().string());
  return {{"display_name", kernel.name},
          {"root_module", root.string()},
          {"edition", "2021"},
          {"deps", Json::array()},
          {"cfg", Json::array({"target_arch=\"nvptx64\"", "target_os=\"cuda\""})},
          {"target", "nvptx64-nvidia-cuda"},
          {"is_workspace_member", true},
          {"source", {{"include_dirs", folders}, {"exclude_dirs", Json::array()}}}};
}

}  // namespace

std::vector<ProjectFile> rust_project(const std::vector<TargetManifest>& manifests,
                                      const fs::path& output) {
  const fs::path folder = fs::absolute(output).parent_path() / "teeny-rust-project";
  std::vector<ProjectFile> files;
  Json crates = Json::array();
  for (const TargetManifest& manifest : manifests) {
    for (const TargetKernel& kernel : manifest.kernels) {
      // Without a prelude the kernel's file is the whole crate.
      fs::path root = kernel.sources.front();
      if (kernel.prelude != k_no_prelude) {
        root = folder / manifest.target / (kernel.name + ".rs");
        files.emplace_back(root, crate_root(kernel));
      }
      crates.push_back(crate_of(kernel, root));
    }
  }
  files.emplace_back(output, Json({{"crates", crates}}).dump(2) + "\n");
  return files;
}

}  // namespace teeny::tool
