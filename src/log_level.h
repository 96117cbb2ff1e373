// The compiler's diagnostic verbosity, by the names and rules of the Rust runtime.
#pragma once

#include <string>
#include <string_view>

namespace teeny::tool {

/// From least to most verbose.
enum class LogLevel { error, warn, info, debug, trace };

/// Lower-case name, as it stands in RUSTC_LOG.
[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

/// Trims white space and ignores case. Anything else is an Error of kind usage that reads
/// `unknown log level '<x>'; expected one of error, warn, info, debug, trace`.
[[nodiscard]] LogLevel parse_log_level(std::string_view text);

}  // namespace teeny::tool
