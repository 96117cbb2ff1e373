#include "command_line.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <iostream>

#include "cache_settings.h"
#include "error.h"
#include "version.h"

namespace teeny::tool {

namespace {

// What stands on the command line, before it is understood.
struct Words {
  std::vector<std::string> sources;
  std::string frontend = "triton";
  std::string arch;
  std::optional<std::string> ptx_version;
  std::vector<std::string> depends;
  std::string log_level;
  bool cache_shared = false;
  bool force = false;
  bool json = false;
  std::string max_size;
  std::string max_age;
};

void add_kernel_options(CLI::App& command, Words& words, BuildRequest& build) {
  KernelSpec& spec = build.spec;
  const auto add_list = [&command](const char* name, std::vector<std::string>& list,
                                   const char* help) {
    command.add_option(name, list, help)->allow_extra_args(false);
  };
  add_list("--source", words.sources, "Rust file of the kernel; repeatable, joined in this order");
  command.add_option("--name", spec.name, "name of the kernel");
  command.add_option("--frontend", words.frontend, "triton (default) or rust");
  command.add_option("--function", spec.function,
                     "Rust function (default: --name, else the only kernel function)");
  add_list("--type", spec.types, "dtype argument such as f32; repeatable, in order");
  add_list("--constant", spec.constants, "const generic argument NAME=value; repeatable");
  command.add_option("--id", spec.id, "id under which the Rust runtime looks, or AUTO");
  command.add_option("--arch", words.arch, "GPU architecture such as sm_90 or 90a");
  command.add_option("--ptx-version", words.ptx_version,
                     "PTX ISA version such as 8.2 or 82, or default (the compiler's own)");
  command.add_option("--prelude", spec.prelude, "file in front of the kernel, or NONE");
  add_list("--option", spec.options, "flag for the compiler; repeatable");
  add_list("--depend", words.depends, "file that an --option names; repeatable");
  command.add_option("--compiler", build.compiler, "compiler to use, or NONE");
}

void add_cache_options(CLI::App& command, Words& words, BuildRequest& build) {
  command.add_option("--cache-dir", build.cache_directory,
                     "cache (default: $TEENYC_CACHE_DIR, $XDG_CACHE_HOME/teeny, ~/.cache/teeny)");
  command.add_flag("--cache-shared", words.cache_shared, "the cache belongs to a group of users");
}

void add_compile_options(CLI::App& command, Words& words, BuildRequest& build) {
  command.add_option("--output", build.output, "image to write")->required();
  command.add_option("--stamp", build.stamp, "empty file written when all is done");
  command.add_option("--mlir-output", build.mlir_output, "copy of the compiler's .mlir");
  command
      .add_option("--launcher", build.launcher,
                  "program put before the compiler; repeatable for its arguments")
      ->allow_extra_args(false);
  add_cache_options(command, words, build);
  command.add_option("--log-level", words.log_level, "error, warn, info, debug or trace");
  command.add_flag("--force", words.force, "compile even if it is in the cache");
  command.add_option("--keep", build.keep, "folder for the files of a failed compile");
}

void understand(const Words& words, BuildRequest& build) {
  KernelSpec& spec = build.spec;
  const std::optional<Frontend> frontend = parse_frontend(words.frontend);
  if (!frontend) {
    throw Error(ErrorKind::usage,
                "--frontend: unknown frontend '" + words.frontend + "'; expected triton or rust");
  }
  spec.frontend = *frontend;
  spec.sources.assign(words.sources.begin(), words.sources.end());
  spec.depends.assign(words.depends.begin(), words.depends.end());
  if (!words.arch.empty()) spec.arch = parse_architecture(words.arch);
  if (spec.arch && spec.frontend == Frontend::triton && spec.arch->suffix == 'f') {
    throw Error(ErrorKind::usage,
                "--arch: " + words.arch + ": teenyc knows no family (f) architectures");
  }
  if (!words.ptx_version) {
    spec.ptx_version = ptx_version_from_environment();
  } else if (*words.ptx_version != "default") {
    spec.ptx_version = parse_ptx_version(*words.ptx_version);
  }
  const char* const shared = std::getenv("TEENYC_CACHE_SHARED");
  if (words.cache_shared || (shared != nullptr && std::string_view(shared) == "1")) {
    build.sharing = CacheSharing::group;
  }
  build.reuse = words.force ? Reuse::forced_compile : Reuse::allowed;
  build.log_level = log_level_from_environment();
  if (!words.log_level.empty()) {
    try {
      build.log_level = parse_log_level(words.log_level);
    } catch (const Error& error) {
      spdlog::warn("--log-level: {}; ignored", error.what());
    }
  }
}

}  // namespace

std::optional<LogLevel> log_level_from_environment() {
  const char* const value = std::getenv("TEENYC_LOG_LEVEL");
  if (value == nullptr) return std::nullopt;
  try {
    return parse_log_level(value);
  } catch (const Error& error) {
    spdlog::warn("TEENYC_LOG_LEVEL: {}; ignored", error.what());
    return std::nullopt;
  }
}

std::optional<std::uint32_t> ptx_version_from_environment() {
  const char* const value = std::getenv("TEENYC_PTX_VERSION");
  if (value == nullptr) return std::nullopt;
  // As Rust's u32 reads itself: digits with an optional plus, and nothing else.
  std::string_view text = value;
  if (text.size() > 1 && text.front() == '+') text.remove_prefix(1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    spdlog::warn("TEENYC_PTX_VERSION: '{}' is not a valid u32; ignored", value);
    return std::nullopt;
  }
  return number;
}

std::optional<Options> parse_command_line(const std::vector<std::string>& arguments) {
  Options options;
  Words words;
  CLI::App app("Compiles GPU kernels written in Rust ahead of time, behind a cache.",
               "teeny-kernel");
  app.set_version_flag("--version", "teeny-kernel " TEENY_VERSION);
  app.require_subcommand(1);
  const auto add = [&](const char* name, Subcommand subcommand, const char* help) {
    CLI::App* const command = app.add_subcommand(name, help);
    command->callback([&options, subcommand] { options.subcommand = subcommand; });
    return command;
  };

  CLI::App* compile = add("compile", Subcommand::compile, "Compile a kernel for one architecture.");
  add_kernel_options(*compile, words, options.build);
  add_compile_options(*compile, words, options.build);
  compile->get_option("--source")->required();
  CLI::App* source = add("source", Subcommand::source, "Print the text that would be compiled.");
  add_kernel_options(*source, words, options.build);
  source->get_option("--source")->required();
  CLI::App* key = add("key", Subcommand::key, "Print the name of a kernel's cache entry.");
  add_kernel_options(*key, words, options.build);

  for (const auto& [name, subcommand, help] :
       {std::tuple("declare", Subcommand::declare, "Write a target's header."),
        std::tuple("embed", Subcommand::embed, "Write the source file with a target's images.")}) {
    CLI::App* command = add(name, subcommand, help);
    command->add_option("--manifest", options.manifest, "what CMake wrote of the target")
        ->required();
    command->add_option("--output", options.output, "file to write; left alone when unchanged")
        ->required();
    command->add_option("--stamp", options.stamp, "empty file written each time")->required();
  }

  CLI::App* inspect = add("inspect", Subcommand::inspect, "Show the kernels of PTX files.");
  inspect->add_option("files", options.files, "PTX files")->required();
  inspect->add_flag("--json", words.json, "as JSON");

  CLI::App* prelude =
      add("prelude", Subcommand::prelude, "Put the triton prelude together from its crate.");
  prelude->add_option("--from", options.from, "teeny-triton crate, or checkout of teenygrad")
      ->required();
  prelude->add_option("-o,--output", options.output, "file to write")->required();

  CLI::App* find = add("find-compiler", Subcommand::find_compiler, "Print the compiler's path.");
  find->add_option("--frontend", words.frontend, "triton (default) or rust");

  CLI::App* project =
      add("rust-project", Subcommand::rust_project, "Write a rust-project.json for rust-analyzer.");
  project->add_option("--manifest", options.manifests, "what CMake wrote of a target; repeatable")
      ->required()
      ->allow_extra_args(false);
  project->add_option("--output", options.output, "file to write")->required();

  CLI::App* cache = app.add_subcommand("cache", "Look after the cache.");
  cache->require_subcommand(1);
  const auto add_cache = [&](const char* name, Subcommand subcommand, const char* help) {
    CLI::App* const command = cache->add_subcommand(name, help);
    command->callback([&options, subcommand] { options.subcommand = subcommand; });
    add_cache_options(*command, words, options.build);
    return command;
  };
  add_cache("stats", Subcommand::cache_stats, "Show hits, misses by reason, time saved, size.")
      ->add_flag("--json", words.json, "as JSON");
  add_cache("verify", Subcommand::cache_verify, "Read every entry and compare it with its digests.")
      ->add_flag("--repair", options.repair, "delete damaged entries");
  CLI::App* prune = add_cache("prune", Subcommand::cache_prune,
                              "Delete old entries, then the least recently used ones.");
  prune->add_option("--max-size", words.max_size,
                    "size to keep to, such as 5G (default: teeny.conf)");
  prune->add_option("--max-age", words.max_age, "longest time without use, such as 30d");
  add_cache("clear", Subcommand::cache_clear, "Delete all entries.");
  CLI::App* explain = add_cache("explain", Subcommand::cache_explain,
                                "Say how a kernel differs from the nearest entry.");
  add_kernel_options(*explain, words, options.build);
  explain->get_option("--source")->required();

  // CLI11 takes them from the back.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::Success& asked) {
    app.exit(asked, std::cout, std::cerr);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, std::string(error.what()) + "; see teeny-kernel --help");
  }
  options.format = words.json ? ReportFormat::json : ReportFormat::table;
  understand(words, options.build);
  if (!words.max_size.empty()) options.max_bytes = parse_size(words.max_size);
  if (!words.max_age.empty()) options.max_age = parse_age(words.max_age);
  options.build.command_line = arguments;
  return options;
}

}  // namespace teeny::tool
