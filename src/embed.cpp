#include "embed.h"

#include <spdlog/fmt/fmt.h>

#include "architecture.h"
#include "error.h"
#include "file.h"
#include "image_header.h"
#include "ptx.h"
#include "sha256.h"

namespace teeny::tool {

namespace {

// What stands between quotes in C++, UTF-8 and all.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    if (c == '\n' || c == '\r') {
      throw Error(ErrorKind::usage, "embed(" + std::string(text) + "): a line end in a path");
    }
    result += c;
  }
  return result;
}

struct ReadImage {
  std::string header;
  std::string symbol;
  std::string bytes;
  std::filesystem::path file;
  std::string sha256;
  Architecture architecture;
  PtxMetadata metadata;
};

ReadImage read_image(const std::filesystem::path& file, const std::string& target,
                     const TargetKernel& kernel, std::string symbol) {
  ReadImage image{{}, std::move(symbol), read_file(file), file, {}, {}, {}};
  if (const auto fault = ptx_fault(image.bytes)) {
    throw Error(ErrorKind::kernel, "embed(" + file.string() + "): " + *fault);
  }
  image.header = image_header(target, kernel.name, image.bytes.size());
  image.sha256 = sha256_hex(image.bytes);
  image.metadata = parse_ptx_metadata(image.bytes);
  image.architecture = parse_architecture(image.metadata.target);
  // The Rust runtime's last resort for a kernel that does not say: 128 threads.
  constexpr std::uint32_t k_triton_warps = 4;
  if (kernel.frontend == Frontend::triton && image.metadata.num_warps == 0) {
    image.metadata.num_warps = k_triton_warps;
  }
  return image;
}

// Bytes between the quotes of a string literal. Octal escapes have three digits, so that no digit
// behind them counts; `??` could begin a trigraph.
std::string literal_text(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 16);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (c == '"' || c == '\\' || c == '?') {
      text += '\\';
      text += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      text += fmt::format("\\{:03o}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

std::string assembler(const ReadImage& image) {
  // Paths and bytes are escaped once for the assembler and once more for C++.
  std::string header;
  for (const char c : image.header) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte <= 0x7e && c != '"' && c != '\\';
    header += plain ? std::string(1, c) : fmt::format("\\\\{:03o}", byte);
  }
  return fmt::format(
      "__asm__(TEENY_BEGIN(\"{0}\", \"{1}\")\n"
      "        \".incbin \\\"{2}\\\"\\n\"\n"
      "        TEENY_END);\n",
      header, image.symbol, escaped(escaped(image.file.string())));
}

// The header and the image are one object; what C++ sees of it begins behind the header.
std::string literal(const ReadImage& image) {
  constexpr std::size_t k_piece = 4096;
  std::string text = fmt::format("alignas({}) const char {}_object[] =\n    \"{}\"",
                                 k_image_alignment, image.symbol, literal_text(image.header));
  for (std::size_t begin = 0; begin < image.bytes.size(); begin += k_piece) {
    text += "\n    \"" + literal_text(std::string_view(image.bytes).substr(begin, k_piece)) + "\"";
  }
  return text + fmt::format(";\nconstexpr const char* {0} = {0}_object + {1};\n", image.symbol,
                            image.header.size());
}

std::string initializer(const ReadImage& image) {
  const PtxMetadata& m = image.metadata;
  const std::string suffix =
      image.architecture.suffix == '\0' ? "'\\0'" : fmt::format("'{}'", image.architecture.suffix);
  return fmt::format(
      "    {{{}, {}U,\n     \"{}\",\n     \"{}\", 0U, {}, {}U, {}U, {}U, {}U, {}U, {}U, "
      "{{{}U, {}U, {}U}}, {}U, {}U, {}U, {}U}},\n",
      image.symbol, image.bytes.size(), image.sha256, escaped(m.entry), suffix,
      image.architecture.capability, m.ptx_version, m.num_warps, m.num_ctas, m.shared, m.tmem_size,
      m.required_threads[0], m.required_threads[1], m.required_threads[2], m.global_scratch_size,
      m.global_scratch_align, m.profile_scratch_size, m.profile_scratch_align);
}

constexpr std::string_view k_assembler_macros = R"(#if defined(__APPLE__)
#define TEENY_BEGIN(header, symbol)       \
  ".pushsection __TEXT,__const\n"         \
  ".p2align 6\n"                          \
  ".ascii \"" header "\"\n"               \
  ".private_extern _" symbol "\n"         \
  ".globl _" symbol "\n"                  \
  "_" symbol ":\n"
#else
#define TEENY_BEGIN(header, symbol)                   \
  ".pushsection .rodata.teeny,\"a\",%progbits\n"      \
  ".balign 64\n"                                      \
  ".ascii \"" header "\"\n"                           \
  ".globl " symbol "\n"                               \
  ".hidden " symbol "\n"                              \
  ".type " symbol ", %object\n"                       \
  symbol ":\n"
#endif
#define TEENY_END  \
  ".byte 0\n"      \
  ".popsection\n"
)";

}  // namespace

std::string embed_kernels(const TargetManifest& manifest) {
  const std::string array = image_array_name(manifest.target);
  std::vector<ReadImage> images;
  for (const TargetKernel& kernel : manifest.kernels) {
    for (const std::filesystem::path& file : kernel.images) {
      images.push_back(read_image(file, manifest.target, kernel,
                                  fmt::format("teeny_{}_{}", array, images.size())));
    }
  }
  const std::string_view visibility =
      manifest.visibility == Visibility::exported ? "default" : "hidden";

  std::string text = fmt::format(
      "// Generated by teeny-kernel from the teeny_add_kernel() calls of target {}.\n"
      "// NOLINTBEGIN\n"
      "#include <teeny/detail/image_data.hpp>\n"
      "\n",
      manifest.target);
  if (manifest.embed == EmbedMethod::literal) {
    text += "namespace {\n\n";
    for (const ReadImage& image : images) text += literal(image);
    text += "\n}  // namespace\n";
  } else {
    text += k_assembler_macros;
    text += "\n";
    for (const ReadImage& image : images) text += assembler(image);
    text += "\nextern \"C\" {\n";
    for (const ReadImage& image : images) {
      text += fmt::format("extern const char {}[] __attribute__((visibility(\"hidden\")));\n",
                          image.symbol);
    }
    text += "}\n";
  }
  text += fmt::format(
      "\n"
      "namespace {0} {{\n"
      "namespace detail {{\n"
      "\n"
      "extern const ::teeny::detail::ImageData {1}[{2}] __attribute__((visibility(\"{3}\")));\n"
      "const ::teeny::detail::ImageData {1}[{2}] = {{\n",
      manifest.name_space, array, images.size(), visibility);
  for (const ReadImage& image : images) text += initializer(image);
  text += fmt::format("}};\n\n}}  // namespace detail\n}}  // namespace {}\n// NOLINTEND\n",
                      manifest.name_space);
  return text;
}

}  // namespace teeny::tool
