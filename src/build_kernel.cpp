#include "build_kernel.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "atomic_file.h"
#include "cache_maintenance.h"
#include "cache_statistics.h"
#include "compiler.h"
#include "diagnostics.h"
#include "error.h"
#include "file.h"
#include "kernel_inputs.h"
#include "ptx.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;

// Without its debug sections, and with the entry point's name where the compiler does not give it.
std::string image_of(const Entry& entry, const std::string& entry_point) {
  std::string image = strip_ptx_debug(entry.object);
  constexpr std::string_view k_trailer = "// --- triton-metadata ---\n";
  if (image.find(k_trailer) == std::string::npos) {
    image += "\n" + std::string(k_trailer) + "// meta:name=" + entry_point + "\n";
  }
  return image;
}

// Whether a PTX parameter of this type can hold what the Rust signature says.
bool agrees(const KernelParameter& parameter, std::string_view ptx_type) {
  const auto is_any_of = [ptx_type](std::initializer_list<std::string_view> types) {
    return std::find(types.begin(), types.end(), ptx_type) != types.end();
  };
  const std::string& dtype = parameter.dtype;
  if (parameter.kind == ParameterKind::pointer || dtype == "i64" || dtype == "u64" ||
      dtype == "isize" || dtype == "usize") {
    return is_any_of({"u64", "s64", "b64"});
  }
  if (dtype == "i32" || dtype == "u32") return is_any_of({"u32", "s32", "b32"});
  if (dtype == "f32") return is_any_of({"f32", "b32"});
  if (dtype == "f64") return is_any_of({"f64", "b64"});
  if (dtype == "i16" || dtype == "u16") return is_any_of({"u16", "s16", "b16"});
  if (dtype == "f16" || dtype == "bf16") return is_any_of({"f16", "b16", "bf16", "u16"});
  return is_any_of({"u8", "s8", "b8"});
}

// A wrong declaration fails the build, not the GPU.
std::optional<std::string> signature_fault(const std::string& object, const KernelSource& source,
                                           Frontend frontend) {
  std::vector<KernelParameter> expected = source.parameters;
  constexpr std::size_t k_scratch_pointers = 2;
  if (frontend == Frontend::triton) {
    expected.resize(expected.size() + k_scratch_pointers,
                    {"scratch", ParameterKind::pointer, "u8", Mutability::mutable_, {}});
  }
  const std::vector<std::string> types = ptx_parameters(object, source.entry_point);
  if (types.size() != expected.size()) {
    return "its entry point has " + std::to_string(types.size()) + " parameters, and " +
           std::to_string(expected.size()) + " were expected from the signature";
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!agrees(expected[i], types[i])) {
      return "parameter " + expected[i].name + " of its entry point is of type ." + types[i] +
             ", which is no " +
             (expected[i].kind == ParameterKind::pointer ? "pointer" : expected[i].dtype);
    }
  }
  return std::nullopt;
}

// Why this can't be what was asked for.
std::optional<std::string> output_fault(const std::string& object, const KernelSpec& spec,
                                        const KernelSource& source) {
  if (auto fault = ptx_fault(object)) return fault;
  const PtxMetadata metadata = parse_ptx_metadata(object);
  // rustc takes an architecture that it does not know for its oldest, and ends with 0.
  constexpr std::uint32_t k_version_of_sm_75 = 63;
  constexpr unsigned k_sm_75 = 75;
  if (spec.arch && spec.arch->capability >= k_sm_75 && metadata.ptx_version < k_version_of_sm_75) {
    return "its .version is too old for " + spec.arch->text() +
           ", so the compiler does not know this architecture";
  }
  if (spec.arch) {
    Architecture got;
    try {
      got = parse_architecture(metadata.target);
    } catch (const Error&) {
      return "its .target is " + metadata.target;
    }
    // teenyc stamps an `a` from capability 90 on, whatever was asked for.
    constexpr unsigned k_first_stamped = 90;
    Architecture stamped = *spec.arch;
    if (stamped.capability >= k_first_stamped) stamped.suffix = 'a';
    const bool as_asked =
        got == *spec.arch || (spec.frontend == Frontend::triton && got == stamped);
    if (!as_asked) return "its .target is " + metadata.target;
  }
  for (const std::string& name : ptx_entries(object)) {
    if (name == source.entry_point) return signature_fault(object, source, spec.frontend);
  }
  return "it has no entry point " + source.entry_point;
}

class KernelBuild {
 public:
  explicit KernelBuild(const BuildRequest& request)
      : request_(request), spec_(request.spec), loaded_(load(request.spec)) {}

  void run() {
    std::string why_none;
    compiler_ = choose_compiler(request_.compiler, spec_.frontend, why_none);
    open_cache();
    deliver(compiler_.empty() ? entry_by_id(why_none) : entry_by_content());
    // The image is there: now there is time to tidy up.
    if (cache_ && stored_) prune_in_passing(*cache_);
  }

 private:
  void open_cache() {
    try {
      cache_.emplace(cache_directory(request_.cache_directory), request_.sharing);
    } catch (const Error& error) {
      warn_cache(error);
    }
  }

  // The one place where a fault of the cache becomes a warning.
  void warn_cache(const Error& error) {
    if (!warned_) spdlog::warn("{}; going on without the cache", error.what());
    warned_ = true;
  }

  [[nodiscard]] EntryKey id_key() const {
    return {loaded_.source.function, id_of(spec_, loaded_.source), spec_.arch_text(),
            spec_.ptx_version};
  }

  // There is no compiler: what the Rust runtime or an earlier build left under the id has to do.
  Entry entry_by_id(const std::string& why_none) {
    if (!spec_.id.empty() && cache_) {
      auto found = cache_->find(id_key(), nullptr);
      if (Entry* const entry = std::get_if<Entry>(&found)) {
        count_hit(*entry);
        return std::move(*entry);
      }
      if (std::get<Miss>(found).without_manifest) {
        found = cache_->find_without_manifest(id_key());
        if (Entry* const entry = std::get_if<Entry>(&found)) {
          if (const auto fault = output_fault(entry->object, spec_, loaded_.source)) {
            spdlog::warn("cache entry {}.o is not used: {}", id_key().name(), *fault);
          } else {
            spdlog::warn("cache entry {}.o has no manifest; used without a check of its digest",
                         id_key().name());
            count_hit(*entry);
            return std::move(*entry);
          }
        }
      }
    }
    fail_without_compiler(spec_, why_none);
  }

  Entry entry_by_content() {
    const Fingerprint fingerprint = fingerprint_of(spec_, loaded_, compiler_);
    const EntryKey key{loaded_.source.function, fingerprint.id(), spec_.arch_text(),
                       spec_.ptx_version};
    compiled_name_ = key.name() + ".rs";
    std::optional<Entry> entry = look_up(key, fingerprint);
    if (!entry) {
      std::optional<FileLock> lock;
      if (cache_) {
        lock = cache_->lock(key, [&](const std::string& holder) {
          spdlog::warn("waiting for {}, which compiles {} for {}", holder, key.function, key.arch);
        });
        // Whoever held the lock before us may have made what we want.
        entry = look_up(key, fingerprint);
      }
      if (!entry) {
        if (cache_) statistics().miss(miss_reason_);
        entry = compile(key);
        publish(key, fingerprint, *entry);
        if (stored_) statistics().store(entry->object.size(), entry->compile_seconds);
      } else {
        count_hit(*entry);
      }
    } else {
      count_hit(*entry);
    }
    show(entry->diagnostics);
    publish_id(fingerprint, *entry);
    return std::move(*entry);
  }

  std::optional<Entry> look_up(const EntryKey& key, const Fingerprint& fingerprint) {
    if (!cache_) return std::nullopt;
    if (request_.reuse == Reuse::forced_compile) {
      miss_reason_ = "forced";
      return std::nullopt;
    }
    auto found = cache_->find(key, &fingerprint.fields());
    if (Entry* const entry = std::get_if<Entry>(&found)) return std::move(*entry);
    miss_reason_ = std::get<Miss>(found).reason;
    spdlog::debug("miss: {}: {}", key.name(), miss_reason_);
    return std::nullopt;
  }

  [[nodiscard]] StatisticsLog statistics() const { return {cache_->root(), cache_->file_mode()}; }

  void count_hit(const Entry& entry) const {
    spdlog::debug("hit: {}", loaded_.source.function);
    statistics().hit(entry.object.size(), entry.compile_seconds);
  }

  void publish(const EntryKey& key, const Fingerprint& fingerprint, const Entry& entry) {
    if (!cache_) return;
    try {
      cache_->publish(key, fingerprint.fields(), entry);
      stored_ = true;
    } catch (const SystemError& error) {
      warn_cache(error);
    }
  }

  // Also under the name by which the Rust runtime looks, whose lock it takes as well.
  void publish_id(const Fingerprint& fingerprint, const Entry& entry) {
    if (!cache_ || spec_.id.empty()) return;
    const EntryKey key = id_key();
    const auto is_current = [&] {
      const auto found = cache_->find(key, &fingerprint.fields());
      const Entry* const there = std::get_if<Entry>(&found);
      return there != nullptr && there->object == entry.object;
    };
    if (is_current()) return;
    const std::optional<FileLock> lock = cache_->lock(key, {});
    if (!is_current()) publish(key, fingerprint, entry);
  }

  Entry compile(const EntryKey& key) {
    const PrivateDirectory directory(temporary_root(), "teeny-kernel-");
    CompileJob job;
    job.frontend = spec_.frontend;
    job.compiler = compiler_;
    job.launcher = request_.launcher;
    job.directory = directory.path();
    job.stem = key.name();
    job.text = loaded_.text();
    job.arch = spec_.arch_text();
    job.ptx_version = spec_.ptx_version;
    job.options = spec_.options;
    job.log_level = request_.log_level;
    job.colours = wants_colours() ? Colours::always : Colours::compilers_choice;
    job.pass_environment = passed_environment();
    try {
      CompilerOutput output = run_compiler(job);
      output.diagnostics = portable(std::move(output.diagnostics), job);
      relay(output.diagnostics);
      if (const auto fault = output_fault(output.object, spec_, loaded_.source)) {
        throw CompileFailed(compiler_.filename().string() + " wrote no usable image: " + *fault,
                            output.diagnostics);
      }
      // With a log level they are no diagnostics of the kernel alone, and were shown already.
      if (request_.log_level) output.diagnostics.clear();
      return {std::move(output.object), job.text, std::move(output.mlir),
              std::move(output.diagnostics), output.seconds};
    } catch (const CompileFailed& failure) {
      report(failure, job);
    }
  }

  // As they are stored: the private folder of this compile is not in them.
  static std::string portable(std::string diagnostics, const CompileJob& job) {
    const std::string folder = job.directory.string() + "/";
    for (std::size_t at = diagnostics.find(folder); at != std::string::npos;
         at = diagnostics.find(folder, at)) {
      diagnostics.erase(at, folder.size());
    }
    return diagnostics;
  }

  // As they are shown: places are those of the user's files.
  [[nodiscard]] std::string for_people(const std::string& diagnostics) const {
    const auto prelude_lines = std::count(loaded_.prelude.begin(), loaded_.prelude.end(), '\n');
    const LineMap map(loaded_.source, static_cast<std::size_t>(prelude_lines));
    const auto origin = [&](std::size_t line) -> TextOrigin {
      const LineOrigin found = map.find(line);
      switch (found.owner) {
        case LineOwner::prelude:
          return {spec_.prelude.empty() ? "<device prelude>" : spec_.prelude, found.line};
        case LineOwner::source:
          return {spec_.sources[found.file].string(), found.line};
        case LineOwner::generated:
          return {"<entry point generated for " + loaded_.source.function + ">", found.line};
        case LineOwner::outside:
          break;
      }
      return {"<end of the kernel>", line};
    };
    std::string text = remap_diagnostics(diagnostics, compiled_name_, origin);
    return wants_colours() ? text : without_colours(text);
  }

  void show(const std::string& diagnostics) const {
    if (diagnostics.empty()) return;
    std::string text = for_people(diagnostics);
    if (text.back() != '\n') text += '\n';
    std::fputs(text.c_str(), stderr);
  }

  // The compiler's log, line by line, where it was asked for.
  void relay(const std::string& diagnostics) const {
    if (!request_.log_level) return;
    const auto logger = spdlog::default_logger()->clone("teenyc");
    logger->set_level(spdlog::level::trace);
    logger->set_pattern("[%n] %v");
    std::istringstream lines(for_people(diagnostics));
    for (std::string line; std::getline(lines, line);) logger->debug(line);
  }

  [[noreturn]] void report(const CompileFailed& failure, const CompileJob& job) {
    show(portable(failure.diagnostics(), job));
    std::string message = "kernel " + loaded_.source.function + " for " +
                          (job.arch.empty() ? "the default architecture" : job.arch) +
                          " does not compile: " + failure.what();
    if (!request_.keep.empty()) {
      std::error_code failed;
      fs::create_directories(request_.keep, failed);
      fs::copy(job.directory, request_.keep,
               fs::copy_options::recursive | fs::copy_options::overwrite_existing, failed);
      message += failed ? "\n  its files could not be kept: " + failed.message()
                        : "\n  its files are kept in " + request_.keep.string();
    }
    message += "\n  to run it again, with --keep <dir> for its files:\n    " +
               shell_quoted(request_.command_line);
    throw Error(ErrorKind::kernel, message);
  }

  void deliver(const Entry& entry) {
    if (request_.output.has_parent_path()) {
      std::error_code failed;
      fs::create_directories(request_.output.parent_path(), failed);
      if (failed) {
        throw SystemError(failed.value(), "mkdir", request_.output.parent_path().string());
      }
    }
    try {
      if (!request_.mlir_output.empty() && entry.mlir) {
        write_file_atomically(request_.mlir_output, *entry.mlir, Durability::none);
      }
      write_file_atomically(request_.output, image_of(entry, loaded_.source.entry_point),
                            Durability::none);
      if (!request_.stamp.empty()) write_file_atomically(request_.stamp, "", Durability::none);
    } catch (...) {
      // All of it or nothing.
      for (const fs::path& path : {request_.mlir_output, request_.output}) {
        std::error_code ignored;
        fs::remove(path, ignored);
      }
      throw;
    }
  }

  const BuildRequest& request_;
  const KernelSpec& spec_;
  Loaded loaded_;
  fs::path compiler_;
  std::optional<CompileCache> cache_;
  std::string compiled_name_;  // of the Rust text, as the compiler's messages have it
  std::string miss_reason_;
  bool stored_ = false;
  bool warned_ = false;
};

}  // namespace

void build_kernel(const BuildRequest& request) {
  // First of all: Ninja and Make keep what a failed command leaves once the source gets an older
  // time again.
  for (const fs::path& path : {request.output, request.stamp, request.mlir_output}) {
    if (!path.empty()) remove_file(path);
  }
  KernelBuild(request).run();
}

}  // namespace teeny::tool
