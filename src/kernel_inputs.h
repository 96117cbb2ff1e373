// Everything that goes into a kernel's image, read once, and the keys made of it.
#pragma once

#include <filesystem>
#include <string>

#include "cache_key.h"
#include "kernel_source.h"
#include "kernel_spec.h"

namespace teeny::tool {

/// What the files of a kernel say. Later changes to them do not reach a build that has read them.
struct Loaded {
  std::string prelude;
  KernelSource source;
  [[nodiscard]] std::string text() const { return prelude + source.text(); }
};

/// Reads prelude and sources, and chooses and instantiates the kernel.
[[nodiscard]] Loaded load(const KernelSpec& spec);

/// The id of the ID entry: as given, or for AUTO as the Rust macro makes it. Empty: none wanted.
[[nodiscard]] std::string id_of(const KernelSpec& spec, const KernelSource& source);

/// The fingerprint of the content entry. `compiler` is the resolved binary.
[[nodiscard]] Fingerprint fingerprint_of(const KernelSpec& spec, const Loaded& loaded,
                                         const std::filesystem::path& compiler);

/// The compiler to use, resolved: `wanted` is a path, NONE, or empty for find_compiler(). Empty
/// where there is none, with the reason in `why_none`.
[[nodiscard]] std::filesystem::path choose_compiler(const std::string& wanted, Frontend frontend,
                                                    std::string& why_none);

/// Throws the Error(environment) for a kernel that has to be compiled by a compiler that is not
/// there.
[[noreturn]] void fail_without_compiler(const KernelSpec& spec, const std::string& why);

/// The text that would be compiled: prelude, kernel, entry point.
[[nodiscard]] std::string compiled_text(const KernelSpec& spec);

/// `<function>_<key>` of the content entry, or with an id that of the ID entry; the bare key for an
/// id without name and sources.
[[nodiscard]] std::string key_text(const KernelSpec& spec, const std::string& compiler);

}  // namespace teeny::tool
