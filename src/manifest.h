// The `.json` member of a cache entry: what the entry is, and the digests of its other members.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache_key.h"

namespace teeny::tool {

/// Size and digest of one member's bytes.
struct MemberDigest {
  std::uint64_t size = 0;
  std::string sha256;  ///< lower-case hex
  friend bool operator==(const MemberDigest&, const MemberDigest&) = default;
};

[[nodiscard]] MemberDigest digest_of(std::string_view bytes);

/// What an entry's manifest says.
struct Manifest {
  std::string function;                         ///< the entry is named `<function>_<key>`
  std::string id;                               ///< of the key formula
  std::string arch;                             ///< such as sm_90; empty: unset
  std::optional<std::uint32_t> ptx_version;     ///< major * 10 + minor
  std::vector<Fingerprint::Field> fields;       ///< all that the content id was made of
  std::map<std::string, MemberDigest> members;  ///< by ending: o, rs, mlir
  std::string diagnostics;                      ///< the compiler's standard error, to replay
  double compile_seconds = 0;                   ///< wall time of the compiler
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// JSON text that ends in its own SHA-256, so that a changed byte anywhere in it is seen.
[[nodiscard]] std::string write_manifest(const Manifest& manifest);

/// Empty for anything that write_manifest() did not write, byte for byte, in this format version.
[[nodiscard]] std::optional<Manifest> read_manifest(std::string_view text);

}  // namespace teeny::tool
