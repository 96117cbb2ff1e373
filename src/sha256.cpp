#include "sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "error.h"
#include "file.h"

namespace teeny::tool {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(evp); }
};

namespace {

void check(int result) {
  if (result != 1) throw Error(ErrorKind::environment, "sha256: OpenSSL offers no SHA-256");
}

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  check(context_->evp == nullptr ? 0 : EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr));
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

Sha256& Sha256::update(std::string_view bytes) {
  check(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()));
  return *this;
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context_->evp, digest.data(), &size));
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * static_cast<std::size_t>(size));
  for (unsigned int i = 0; i < size; ++i) {
    text += k_digits[digest[i] >> 4U];
    text += k_digits[digest[i] & 0xFU];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) { return Sha256().update(bytes).hex(); }

std::string sha256_of_file(const std::filesystem::path& path) {
  const FileDescriptor fd = open_file(path, O_RDONLY);
  Sha256 hash;
  std::vector<char> buffer(1U << 18U);
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int code = errno;
      throw SystemError(code, "read", path.string());
    }
    if (got == 0) return hash.hex();
    hash.update({buffer.data(), static_cast<std::size_t>(got)});
  }
}

bool is_sha256_hex(std::string_view text) noexcept {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace teeny::tool
