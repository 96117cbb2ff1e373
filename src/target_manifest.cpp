#include "target_manifest.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "error.h"
#include "file.h"

namespace teeny::tool {

namespace {

using Json = nlohmann::json;

// The one of two words that stands there.
template <typename Choice>
Choice read_choice(const Json& json, std::string_view first, Choice if_first,
                   std::string_view second, Choice if_second) {
  const auto word = json.get<std::string>();
  if (word == first) return if_first;
  if (word == second) return if_second;
  throw Error(ErrorKind::usage,
              "'" + word + "' is neither " + std::string(first) + " nor " + std::string(second));
}

TargetKernel read_kernel(const Json& json, const Json& manifest) {
  TargetKernel kernel;
  json.at("name").get_to(kernel.name);
  const auto frontend = parse_frontend(json.at("frontend").get<std::string>());
  if (!frontend) throw Error(ErrorKind::usage, "unknown frontend of kernel " + kernel.name);
  kernel.frontend = *frontend;
  json.at("function").get_to(kernel.function);
  json.at("types").get_to(kernel.types);
  json.at("constants").get_to(kernel.constants);
  json.at("prelude").get_to(kernel.prelude);
  for (const Json& source : json.at("sources")) {
    kernel.sources.emplace_back(source.get<std::string>());
  }
  const bool per_configuration = json.at("per_configuration").get<bool>();
  const std::filesystem::path directory = per_configuration
                                              ? manifest.value("configuration_directory", "")
                                              : manifest.at("directory").get<std::string>();
  for (const Json& image : json.at("images")) {
    kernel.images.push_back(directory / image.get<std::string>());
  }
  if (kernel.images.empty()) throw Error(ErrorKind::usage, "no image of kernel " + kernel.name);
  return kernel;
}

}  // namespace

TargetManifest read_target_manifest(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  try {
    const Json json = Json::parse(text);
    TargetManifest manifest;
    json.at("target").get_to(manifest.target);
    json.at("namespace").get_to(manifest.name_space);
    manifest.visibility = read_choice(json.at("visibility"), "hidden", Visibility::hidden,
                                      "exported", Visibility::exported);
    manifest.embed = read_choice(json.at("embed"), "incbin", EmbedMethod::incbin, "literal",
                                 EmbedMethod::literal);
    for (const Json& kernel : json.at("kernels")) {
      manifest.kernels.push_back(read_kernel(kernel, json));
    }
    std::sort(manifest.kernels.begin(), manifest.kernels.end(),
              [](const TargetKernel& a, const TargetKernel& b) { return a.name < b.name; });
    return manifest;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, "manifest(" + path.string() + "): " + error.what());
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, "manifest(" + path.string() + "): " + error.what());
  }
}

std::string image_array_name(const std::string& target) {
  std::string name = "images_of_";
  for (const char c : target) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      name += c;
    } else {
      char code[4];
      std::snprintf(code, sizeof code, "_%02x", byte);
      name += code;
    }
  }
  return name;
}

}  // namespace teeny::tool
