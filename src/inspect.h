// What `teeny-kernel inspect` prints.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace teeny::tool {

enum class ReportFormat { table, json };

/// One row per entry point of each PTX file: entry, architecture, PTX version, bytes, threads,
/// shared memory, digest. Throws Error(usage) for a file that is no PTX.
[[nodiscard]] std::string inspect_files(const std::vector<std::filesystem::path>& files,
                                        ReportFormat format);

}  // namespace teeny::tool
