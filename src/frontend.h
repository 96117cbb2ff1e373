// The two languages that a kernel can be written in.
#pragma once

#include <optional>
#include <string_view>

namespace teeny::tool {

enum class Frontend {
  triton,  // the tile language, compiled by teenyc
  rust,    // plain Rust for nvptx64-nvidia-cuda, compiled by teenyc or a stock rustc
};

// The word that users write: "triton" or "rust".
[[nodiscard]] constexpr std::string_view to_string(Frontend frontend) {
  return frontend == Frontend::triton ? "triton" : "rust";
}

// The inverse of to_string, exact in case; nothing for any other word.
[[nodiscard]] constexpr std::optional<Frontend> parse_frontend(std::string_view word) {
  if (word == "triton") return Frontend::triton;
  if (word == "rust") return Frontend::rust;
  return std::nullopt;
}

}  // namespace teeny::tool
