#include "image_header.h"

#include <charconv>
#include <optional>

namespace teeny::tool {

namespace {

// Put together when it is needed: this program is no image itself.
std::string magic() { return std::string("\x7f") + "TEENY-" + "IMAGE 1 "; }

// The next word of `text`, ended by `end`, cut off its front.
std::optional<std::string_view> take_word(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  constexpr std::size_t k_longest = 4096;
  if (at == std::string_view::npos || at == 0 || at > k_longest) return std::nullopt;
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at + 1);
  return word;
}

}  // namespace

std::string image_header(std::string_view target, std::string_view kernel, std::size_t image_size) {
  std::string header = magic() + std::to_string(image_size) + " " + std::string(target) + " " +
                       std::string(kernel) + "\n";
  const std::size_t units = header.size() / k_image_alignment + 1;
  header.resize(units * k_image_alignment, '\0');
  return header;
}

std::vector<EmbeddedImage> find_embedded_images(std::string_view file) {
  std::vector<EmbeddedImage> images;
  const std::string start = magic();
  std::size_t at = file.find(start);
  while (at != std::string_view::npos) {
    std::string_view rest = file.substr(at + start.size());
    const auto size_word = take_word(rest, ' ');
    const auto target = size_word ? take_word(rest, ' ') : std::nullopt;
    const auto kernel = target ? take_word(rest, '\n') : std::nullopt;
    std::size_t size = 0;
    bool found = false;
    if (kernel) {
      const auto [end, error] =
          std::from_chars(size_word->data(), size_word->data() + size_word->size(), size);
      found = error == std::errc() && end == size_word->data() + size_word->size();
    }
    if (found) {
      const std::string header = image_header(*target, *kernel, size);
      found = file.substr(at, header.size()) == header && size <= file.size() - at - header.size();
      if (found) {
        images.push_back(
            {std::string(*target), std::string(*kernel), file.substr(at + header.size(), size)});
      }
    }
    at = file.find(start, at + start.size());
  }
  return images;
}

}  // namespace teeny::tool
