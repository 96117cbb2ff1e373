// What stands in front of each embedded image, so that `inspect` finds the images in any
// executable, library, object or archive, stripped or not: 64 bytes or a multiple, NUL-padded,
//
//     \x7fTEENY-IMAGE 1 <size of the image in bytes> <target> <kernel>\n
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace teeny::tool {

/// Alignment of embedded images and size unit of headers, in bytes.
inline constexpr std::size_t k_image_alignment = 64;

/// The header of an image; its size is a multiple of k_image_alignment.
[[nodiscard]] std::string image_header(std::string_view target, std::string_view kernel,
                                       std::size_t image_size);

struct EmbeddedImage {
  std::string target;
  std::string kernel;
  std::string_view bytes;  ///< in the searched text
};

/// All images in a file's bytes, in order. What only looks like a header is passed over.
[[nodiscard]] std::vector<EmbeddedImage> find_embedded_images(std::string_view file);

}  // namespace teeny::tool
