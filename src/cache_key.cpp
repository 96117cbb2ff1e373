#include "cache_key.h"

#include "sha256.h"

namespace teeny::tool {

namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return text;
}

}  // namespace

std::string cache_key(std::string_view id, std::string_view target_cpu,
                      std::optional<std::uint32_t> ptx_version) {
  Sha256 hash;
  hash.update(id).update(target_cpu);
  if (ptx_version) hash.update(little_endian(*ptx_version, 4));
  return hash.hex();
}

std::string entry_name(std::string_view function, std::string_view key) {
  return std::string(function) + "_" + std::string(key);
}

void Fingerprint::add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

void Fingerprint::add_digest(std::string name, std::string_view bytes) {
  add(std::move(name), "sha256:" + sha256_hex(bytes));
}

std::string Fingerprint::id() const {
  Sha256 hash;
  for (const Field& field : fields_) {
    for (const std::string& part : {field.first, field.second}) {
      hash.update(little_endian(part.size(), 8)).update(part);
    }
  }
  return hash.hex();
}

}  // namespace teeny::tool
