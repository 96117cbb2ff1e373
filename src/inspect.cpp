#include "inspect.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "error.h"
#include "file.h"
#include "image_header.h"
#include "ptx.h"
#include "sha256.h"

namespace teeny::tool {

namespace {

using Json = nlohmann::ordered_json;

Json describe(const std::filesystem::path& file, std::string_view kernel, std::string_view image,
              const std::string& entry) {
  const PtxMetadata m = parse_ptx_metadata(image, entry);
  return {{"file", file.string()},
          {"kernel", kernel},
          {"entry", m.entry},
          {"architecture", m.target},
          {"ptx_version", fmt::format("{}.{}", m.ptx_version / 10, m.ptx_version % 10)},
          {"bytes", image.size()},
          {"num_warps", m.num_warps},
          {"num_ctas", m.num_ctas},
          {"required_threads", m.required_threads},
          {"shared", m.shared},
          {"tmem_size", m.tmem_size},
          {"global_scratch_size", m.global_scratch_size},
          {"global_scratch_align", m.global_scratch_align},
          {"profile_scratch_size", m.profile_scratch_size},
          {"profile_scratch_align", m.profile_scratch_align},
          {"sha256", sha256_hex(image)}};
}

void add_rows(const std::filesystem::path& file, Json& rows) {
  const std::string bytes = read_file(file);
  const std::vector<EmbeddedImage> images = find_embedded_images(bytes);
  for (const EmbeddedImage& image : images) {
    rows.push_back(describe(file, image.kernel, image.bytes, {}));
  }
  if (!images.empty()) return;
  if (const auto fault = ptx_fault(bytes)) {
    throw Error(ErrorKind::usage, "inspect(" + file.string() +
                                      "): there are no images in it, and it is no PTX: " + *fault);
  }
  for (const std::string& entry : ptx_entries(bytes)) {
    rows.push_back(describe(file, "", bytes, entry));
  }
}

}  // namespace

std::string inspect_files(const std::vector<std::filesystem::path>& files, ReportFormat format) {
  Json rows = Json::array();
  for (const std::filesystem::path& file : files) {
    add_rows(file, rows);
  }
  if (format == ReportFormat::json) {
    return rows.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::string text = fmt::format("{:<24} {:<32} {:<8} {:>5} {:>9} {:>5} {:>7}  {}\n", "kernel",
                                 "entry", "arch", "PTX", "bytes", "warps", "shared", "sha256");
  for (const Json& row : rows) {
    text +=
        fmt::format("{:<24} {:<32} {:<8} {:>5} {:>9} {:>5} {:>7}  {}\n",
                    row["kernel"].get<std::string>(), row["entry"].get<std::string>(),
                    row["architecture"].get<std::string>(), row["ptx_version"].get<std::string>(),
                    row["bytes"].get<std::size_t>(), row["num_warps"].get<unsigned>(),
                    row["shared"].get<unsigned>(), row["sha256"].get<std::string>().substr(0, 16));
  }
  return text;
}

}  // namespace teeny::tool
