// SHA-256 (FIPS 180-4) through OpenSSL. The only place that knows OpenSSL.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace teeny::tool {

/// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  Sha256& update(std::string_view bytes);
  /// Lower-case hex, 64 characters. Ends the computation.
  [[nodiscard]] std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Lower-case hex digest of `bytes`.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// Lower-case hex digest of a file's content, read in pieces. Throws SystemError.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

/// True for exactly 64 lower-case hexadecimal digits.
[[nodiscard]] bool is_sha256_hex(std::string_view text) noexcept;

}  // namespace teeny::tool
