#include "kernel_inputs.h"

#include <cstdlib>

#include "compiler.h"
#include "compiler_identity.h"
#include "error.h"
#include "file.h"
#include "find_compiler.h"
#include "prelude.h"
#include "sha256.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_no_compiler = "NONE";

// Mathematical functions of the device, which teenyc links in where a kernel needs them.
std::string libdevice_digest() {
  const char* const set = std::getenv("CUDA_LIBDEVICE_PATH");
  for (const std::string& path : {std::string(set == nullptr ? "" : set),
                                  std::string("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc")}) {
    std::error_code failed;
    if (!path.empty() && fs::is_regular_file(path, failed)) return sha256_of_file(path);
  }
  return "none";
}

}  // namespace

Loaded load(const KernelSpec& spec) {
  KernelRequest request;
  request.frontend = spec.frontend;
  for (const fs::path& file : spec.sources)
    request.sources.push_back({file.string(), read_file(file)});
  if (!spec.function.empty()) request.function = spec.function;
  if (!spec.name.empty()) request.name = spec.name;
  request.types = spec.types;
  request.constants = spec.constants;
  return {read_prelude(spec), make_kernel_source(request)};
}

std::string id_of(const KernelSpec& spec, const KernelSource& source) {
  return spec.id == k_auto_id ? source.id_auto : spec.id;
}

Fingerprint fingerprint_of(const KernelSpec& spec, const Loaded& loaded, const fs::path& compiler) {
  Fingerprint fingerprint;
  fingerprint.add("format", "1");
  fingerprint.add("frontend", std::string(to_string(spec.frontend)));
  fingerprint.add("function", loaded.source.function);
  fingerprint.add_digest("prelude", loaded.prelude);
  fingerprint.add_digest("source", loaded.source.text());
  for (const std::string& option : spec.options) fingerprint.add("option", option);
  for (const fs::path& file : spec.depends) {
    fingerprint.add("depend", "sha256:" + sha256_of_file(file));
  }
  if (spec.frontend == Frontend::triton) fingerprint.add("libdevice", libdevice_digest());
  for (const std::string& name : passed_environment()) {
    const char* const value = std::getenv(name.c_str());
    fingerprint.add("environment", value == nullptr ? name : name + "=" + value);
  }
  fingerprint.add("compiler", compiler_identity(compiler));
  return fingerprint;
}

fs::path choose_compiler(const std::string& wanted, Frontend frontend, std::string& why_none) {
  if (wanted == k_no_compiler) {
    why_none = "the compiler is set to NONE";
    return {};
  }
  try {
    return wanted.empty() ? find_compiler(frontend) : resolve_compiler(wanted);
  } catch (const Error& error) {
    why_none = error.what();
    return {};
  }
}

[[noreturn]] void fail_without_compiler(const KernelSpec& spec, const std::string& why) {
  throw Error(ErrorKind::environment,
              spec.frontend == Frontend::triton
                  ? "kernel not cached and teenyc not found (" + why +
                        "); set TEENYC_PATH to a valid teenyc binary"
                  : "kernel not cached and rustc not found (" + why +
                        "); set TEENY_RUSTC_EXECUTABLE to a rustc of 1.90 or newer");
}

std::string compiled_text(const KernelSpec& spec) { return load(spec).text(); }

std::string key_text(const KernelSpec& spec, const std::string& compiler) {
  if (!spec.id.empty() && spec.sources.empty()) {
    if (spec.id == k_auto_id) throw Error(ErrorKind::usage, "--id AUTO needs --source");
    const std::string key = cache_key(spec.id, spec.arch_text(), spec.ptx_version);
    const std::string& function = spec.function.empty() ? spec.name : spec.function;
    return function.empty() ? key : entry_name(function, key);
  }
  if (spec.sources.empty()) throw Error(ErrorKind::usage, "key: --source or --id is needed");
  const Loaded loaded = load(spec);
  std::string id = id_of(spec, loaded.source);
  if (id.empty()) {
    std::string why_none;
    const fs::path path = choose_compiler(compiler, spec.frontend, why_none);
    if (path.empty()) fail_without_compiler(spec, why_none);
    id = fingerprint_of(spec, loaded, path).id();
  }
  return entry_name(loaded.source.function, cache_key(id, spec.arch_text(), spec.ptx_version));
}

}  // namespace teeny::tool
