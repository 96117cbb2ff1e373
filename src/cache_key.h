// Cache keys: the Rust runtime's formula, and the fingerprint that is the id of a content entry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teeny::tool {

/// Lower-case hex of SHA-256 over `id`, then `target_cpu` (such as sm_90; empty: unset), then
/// `ptx_version` (major * 10 + minor) as 4 little-endian bytes if set; nothing between them. The
/// formula of the Rust runtime, so that both find each other's entries.
[[nodiscard]] std::string cache_key(std::string_view id, std::string_view target_cpu,
                                    std::optional<std::uint32_t> ptx_version);

/// `<function>_<key>`, to which the endings .rs, .o, .mlir, .json and .lock are appended.
[[nodiscard]] std::string entry_name(std::string_view function, std::string_view key);

/// All that can change the bytes that a compiler writes, as named fields in a fixed order.
class Fingerprint {
 public:
  using Field = std::pair<std::string, std::string>;

  /// Adds a short value as it is, so that people can read it in the manifest.
  void add(std::string name, std::string value);
  /// Adds a long value by its digest: `sha256:<hex>`.
  void add_digest(std::string name, std::string_view bytes);

  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return fields_; }

  /// Lower-case hex of SHA-256 over the fields: for each its name and its value, both preceded by
  /// their length in bytes as 8 little-endian bytes, so that no two lists of fields collide.
  [[nodiscard]] std::string id() const;

 private:
  std::vector<Field> fields_;
};

}  // namespace teeny::tool
