#include "compiler.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "error.h"
#include "file.h"

namespace teeny::tool {

namespace {

// What a compiler needs to start. Everything that decides what it writes is an argument or is in
// the fingerprint, so that a build does not depend on whose shell it runs in.
constexpr std::array<std::string_view, 11> k_allowed = {"PATH",
                                                        "HOME",
                                                        "LD_LIBRARY_PATH",
                                                        "DYLD_LIBRARY_PATH",
                                                        "CUDA_LIBDEVICE_PATH",
                                                        "CUDA_HOME",
                                                        "CUDA_PATH",
                                                        "RUST_MIN_STACK",
                                                        "RUSTUP_HOME",
                                                        "CARGO_HOME",
                                                        "RUSTUP_TOOLCHAIN"};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::vector<std::string> compiler_environment(const CompileJob& job) {
  std::vector<std::string> environment;
  for (std::string& variable : current_environment()) {
    const std::string_view name = name_of(variable);
    const auto named = [name](std::string_view other) { return name == other; };
    // A launcher (icecc, distcc, ...) is configured by variables that only it knows.
    if (!job.launcher.empty() || std::any_of(k_allowed.begin(), k_allowed.end(), named) ||
        std::any_of(job.pass_environment.begin(), job.pass_environment.end(), named)) {
      environment.push_back(std::move(variable));
    }
  }
  const auto set = [&environment](std::string_view name, std::string_view value) {
    std::erase_if(environment, [name](const std::string& v) { return name_of(v) == name; });
    environment.push_back(std::string(name) + "=" + std::string(value));
  };
  const auto unset = [&environment](std::string_view name) {
    std::erase_if(environment, [name](const std::string& v) { return name_of(v) == name; });
  };
  set("TMPDIR", job.directory.native());
  set("RUSTC_ICE", "0");
  set("RUSTC_BOOTSTRAP", "1");
  unset("TEENYC_PTX_VERSION");
  unset("RUSTC_LOG");
  if (job.frontend == Frontend::triton) {
    if (job.ptx_version) set("TEENYC_PTX_VERSION", std::to_string(*job.ptx_version));
    if (job.log_level) {
      set("RUSTC_LOG", "rustc_codegen_llvm::mlir=" + std::string(to_string(*job.log_level)));
    }
  }
  return environment;
}

// rustc has no switch against its remark that ptx<NN> is not a stable target feature. It is we who
// use it, so the user is not told. The remark ends with an empty line.
std::string without_feature_remark(const std::string& diagnostics) {
  const std::size_t begin =
      diagnostics.find("warning: unstable feature specified for `-Ctarget-feature`: `ptx");
  if (begin == std::string::npos) return diagnostics;
  const std::size_t end = diagnostics.find("\n\n", begin);
  if (end == std::string::npos) return diagnostics;
  std::string rest = diagnostics.substr(0, begin) + diagnostics.substr(end + 2);
  return rest == "warning: 1 warning emitted\n\n" ? "" : rest;
}

std::filesystem::path output_file(const CompileJob& job) {
  return job.directory / (job.stem + ".o");
}

// With --emit=obj the compiler replaces the last extension of the -o name.
std::filesystem::path mlir_file(const CompileJob& job) {
  return job.directory / (job.stem + ".mlir");
}

}  // namespace

Command compiler_command(const CompileJob& job) {
  Command command;
  command.working_directory = job.directory;
  command.environment = compiler_environment(job);
  std::vector<std::string>& arguments = command.arguments;
  arguments = job.launcher;
  arguments.push_back(job.compiler.string());
  arguments.push_back((job.directory / (job.stem + ".rs")).string());
  arguments.emplace_back("-Copt-level=3");
  if (job.frontend == Frontend::triton) {
    arguments.emplace_back("-Zcodegen-backend=mlir");
    arguments.emplace_back("--emit=obj");
  } else {
    arguments.emplace_back("--emit=asm");
  }
  arguments.push_back("-o" + output_file(job).string());
  arguments.emplace_back("--target=nvptx64-nvidia-cuda");
  arguments.emplace_back("--crate-type=lib");
  arguments.emplace_back("-C");
  arguments.emplace_back("overflow-checks=off");
  if (job.frontend == Frontend::triton) arguments.emplace_back("--frontend=triton");
  if (!job.arch.empty()) arguments.push_back("-Ctarget-cpu=" + job.arch);
  if (job.frontend == Frontend::rust && job.ptx_version) {
    arguments.push_back("-Ctarget-feature=+ptx" + std::to_string(*job.ptx_version));
  }
  const auto user_says = [&job](std::string_view flag) {
    return std::any_of(job.options.begin(), job.options.end(), [flag](const std::string& option) {
      return option.compare(0, flag.size(), flag) == 0;
    });
  };
  if (job.frontend == Frontend::rust && !user_says("--edition")) {
    arguments.emplace_back("--edition=2021");
  }
  if (job.colours == Colours::always && !user_says("--color") && !user_says("--error-format")) {
    arguments.emplace_back("--color=always");
  }
  arguments.insert(arguments.end(), job.options.begin(), job.options.end());
  return command;
}

CompilerOutput run_compiler(const CompileJob& job) {
  write_file(job.directory / (job.stem + ".rs"), job.text);
  const auto begin = std::chrono::steady_clock::now();
  Completed completed = run_command(compiler_command(job));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::string name = job.compiler.filename().string();
  if (!completed.succeeded()) {
    throw CompileFailed(name + " ended with " + completed.describe_status(),
                        std::move(completed.standard_error));
  }
  CompilerOutput output;
  output.seconds = seconds.count();
  output.diagnostics = job.frontend == Frontend::rust && job.ptx_version
                           ? without_feature_remark(completed.standard_error)
                           : std::move(completed.standard_error);
  // Only a file that is not there counts as none: one that can't be read would be lost from the
  // entry.
  const auto read_if_there = [](const std::filesystem::path& path) -> std::optional<std::string> {
    try {
      return read_file(path);
    } catch (const SystemError& error) {
      if (error.code() == ENOENT) return std::nullopt;
      throw;
    }
  };
  std::optional<std::string> object = read_if_there(output_file(job));
  if (!object) {
    throw CompileFailed(name + " ended with exit status 0 but wrote no output",
                        std::move(output.diagnostics));
  }
  output.object = std::move(*object);
  output.mlir = read_if_there(mlir_file(job));
  return output;
}

std::vector<std::string> passed_environment() {
  const char* const value = std::getenv("TEENY_PASS_ENVIRONMENT");
  std::vector<std::string> names;
  std::string_view rest = value == nullptr ? "" : value;
  constexpr std::string_view k_separators = ",; ";
  while (true) {
    const std::size_t begin = rest.find_first_not_of(k_separators);
    if (begin == std::string_view::npos) break;
    rest.remove_prefix(begin);
    const std::size_t end = std::min(rest.find_first_of(k_separators), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace teeny::tool
