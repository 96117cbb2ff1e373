// What `teeny-kernel inspect` prints.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace teeny::tool {

enum class ReportFormat { table, json };

/// One row per entry point of each PTX file, and per image embedded in each other file (executable,
/// library, object, archive): kernel, entry, architecture, PTX version, bytes, warps, shared
/// memory, digest; all metadata in JSON. Throws Error(usage) for a file that is no PTX and has no
/// images.
[[nodiscard]] std::string inspect_files(const std::vector<std::filesystem::path>& files,
                                        ReportFormat format);

}  // namespace teeny::tool
