#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "atomic_file.h"
#include "build_kernel.h"
#include "cache_command.h"
#include "command_line.h"
#include "declare.h"
#include "embed.h"
#include "error.h"
#include "file.h"
#include "find_compiler.h"
#include "inspect.h"
#include "interrupt.h"
#include "kernel_inputs.h"
#include "prelude.h"
#include "rust_project.h"

namespace {

using namespace teeny::tool;
namespace fs = std::filesystem;

void set_up_logging() {
  const auto logger = spdlog::stderr_color_st("teeny-kernel");
  logger->set_pattern("%n: %^%l%$: %v");
  logger->set_level(spdlog::level::warn);
  spdlog::set_default_logger(logger);
}

void set_log_level(LogLevel level) {
  constexpr spdlog::level::level_enum k_levels[] = {spdlog::level::err, spdlog::level::warn,
                                                    spdlog::level::info, spdlog::level::debug,
                                                    spdlog::level::trace};
  spdlog::set_level(k_levels[static_cast<int>(level)]);
}

// Left alone when it says that already, so that nothing which includes it is compiled again.
void write_if_changed(const fs::path& path, const std::string& text) {
  std::error_code failed;
  if (fs::is_regular_file(path, failed) && read_file(path) == text) return;
  fs::create_directories(fs::absolute(path).parent_path());
  write_file_atomically(path, text, Durability::none);
}

void generate(const Options& options, std::string (*make)(const TargetManifest&)) {
  remove_file(options.stamp);
  write_if_changed(options.output, make(read_target_manifest(options.manifest)));
  write_file_atomically(options.stamp, "", Durability::none);
}

void write_rust_project(const Options& options) {
  std::vector<TargetManifest> manifests;
  for (const fs::path& file : options.manifests) manifests.push_back(read_target_manifest(file));
  for (const auto& [path, text] : rust_project(manifests, options.output)) {
    write_if_changed(path, text);
  }
}

CompileCache open_cache(const BuildRequest& build) {
  return {cache_directory(build.cache_directory), build.sharing};
}

void run(const Options& options) {
  const BuildRequest& build = options.build;
  switch (options.subcommand) {
    case Subcommand::compile:
      return build_kernel(build);
    case Subcommand::source:
      std::cout << compiled_text(build.spec);
      return;
    case Subcommand::key:
      std::cout << key_text(build.spec, build.compiler) << "\n";
      return;
    case Subcommand::declare:
      return generate(options, declare_kernels);
    case Subcommand::embed:
      return generate(options, embed_kernels);
    case Subcommand::inspect:
      std::cout << inspect_files(options.files, options.format);
      return;
    case Subcommand::prelude:
      return write_file_atomically(options.output, assemble_triton_prelude(options.from),
                                   Durability::none);
    case Subcommand::cache_stats:
      std::cout << cache_stats_text(open_cache(build), options.format);
      return;
    case Subcommand::cache_verify:
      std::cout << cache_verify_text(open_cache(build), options.repair);
      return;
    case Subcommand::cache_prune:
      std::cout << cache_prune_text(open_cache(build), options.max_bytes, options.max_age);
      return;
    case Subcommand::cache_clear:
      std::cout << cache_clear_text(open_cache(build));
      return;
    case Subcommand::cache_explain:
      std::cout << cache_explain_text(open_cache(build), build.spec, build.compiler);
      return;
    case Subcommand::rust_project:
      return write_rust_project(options);
    case Subcommand::find_compiler:
      std::cout << find_compiler(build.spec.frontend).string() << "\n";
      return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    set_up_logging();
    catch_interrupts();
    const auto options = parse_command_line(std::vector<std::string>(argv, argv + argc));
    if (options) {
      if (options->build.log_level) set_log_level(*options->build.log_level);
      run(*options);
    }
    std::cout.flush();
    if (!std::cout) throw Error(ErrorKind::environment, "write(standard output): failed");
    return 0;
  } catch (const Interrupted& interrupted) {
    std::signal(interrupted.signal(), SIG_DFL);
    std::raise(interrupted.signal());
    return 128 + interrupted.signal();
  } catch (const Error& error) {
    spdlog::error("{}", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return static_cast<int>(ErrorKind::environment);
  }
}
