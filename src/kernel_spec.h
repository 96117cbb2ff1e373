// One kernel for one architecture as the user asks for it, before anything is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "architecture.h"
#include "frontend.h"

namespace teeny::tool {

/// PRELUDE or --prelude that asks for no prelude at all.
inline constexpr std::string_view k_no_prelude = "NONE";
/// ID or --id that asks for the id the Rust macro would give.
inline constexpr std::string_view k_auto_id = "AUTO";

struct KernelSpec {
  std::vector<std::filesystem::path> sources;  ///< concatenated in this order
  std::string name;                            ///< NAME; may be empty
  Frontend frontend = Frontend::triton;
  std::string function;                      ///< FUNCTION; empty: chosen by name, else the only one
  std::vector<std::string> types;            ///< dtype arguments, in order
  std::vector<std::string> constants;        ///< `NAME=value`
  std::string id;                            ///< the Rust runtime's id, AUTO, or empty
  std::optional<Architecture> arch;          ///< unset: the compiler's default
  std::optional<std::uint32_t> ptx_version;  ///< major * 10 + minor; unset: the compiler's default
  std::string prelude;               ///< a file, NONE, or empty: the default of the frontend
  std::vector<std::string> options;  ///< appended to the compiler's command line
  std::vector<std::filesystem::path> depends;  ///< files that the options name

  [[nodiscard]] std::string arch_text() const { return arch ? arch->text() : std::string(); }
};

}  // namespace teeny::tool
