#include "manifest.h"

#include <nlohmann/json.hpp>

#include "sha256.h"

namespace teeny::tool {

namespace {

using Json = nlohmann::json;

constexpr int k_format = 1;
constexpr std::string_view k_seal = ",\"manifest_sha256\":\"";
constexpr std::string_view k_end = "\"}\n";

}  // namespace

MemberDigest digest_of(std::string_view bytes) { return {bytes.size(), sha256_hex(bytes)}; }

std::string write_manifest(const Manifest& manifest) {
  Json members = Json::object();
  for (const auto& [ending, digest] : manifest.members) {
    members[ending] = {{"size", digest.size}, {"sha256", digest.sha256}};
  }
  const Json json = {
      {"format", k_format},
      {"function", manifest.function},
      {"id", manifest.id},
      {"arch", manifest.arch},
      {"ptx_version", manifest.ptx_version ? Json(*manifest.ptx_version) : Json()},
      {"fields", manifest.fields},
      {"members", members},
      {"diagnostics", manifest.diagnostics},
      {"compile_seconds", manifest.compile_seconds},
  };
  // A compiler's messages may hold bytes that are no UTF-8; they are for reading only.
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();  // the closing brace: the seal comes before it
  std::string seal = sha256_hex(text);
  text.append(k_seal).append(seal).append(k_end);
  return text;
}

std::optional<Manifest> read_manifest(std::string_view text) {
  constexpr std::size_t k_digest_size = 64;
  const std::size_t tail_size = k_seal.size() + k_digest_size + k_end.size();
  if (text.size() < tail_size) return std::nullopt;
  const std::string_view sealed = text.substr(0, text.size() - tail_size);
  const std::string expected = std::string(k_seal).append(sha256_hex(sealed)).append(k_end);
  if (text.substr(sealed.size()) != expected) return std::nullopt;

  const Json json = Json::parse(std::string(sealed) + "}", nullptr, false);
  if (!json.is_object() || json.value("format", 0) != k_format) return std::nullopt;
  try {
    Manifest manifest;
    json.at("function").get_to(manifest.function);
    json.at("id").get_to(manifest.id);
    json.at("arch").get_to(manifest.arch);
    if (!json.at("ptx_version").is_null()) {
      manifest.ptx_version = json.at("ptx_version").get<std::uint32_t>();
    }
    json.at("fields").get_to(manifest.fields);
    for (const auto& [ending, digest] : json.at("members").items()) {
      manifest.members[ending] = {digest.at("size").get<std::uint64_t>(),
                                  digest.at("sha256").get<std::string>()};
    }
    json.at("diagnostics").get_to(manifest.diagnostics);
    json.at("compile_seconds").get_to(manifest.compile_seconds);
    return manifest;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace teeny::tool
