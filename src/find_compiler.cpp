#include "find_compiler.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "compiler_identity.h"
#include "error.h"
#include "subprocess.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Standard output of a rustup call; empty without rustup.
std::string ask_rustup(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "rustup");
  try {
    Completed completed = run_command({arguments, current_environment(), {}});
    return completed.succeeded() ? std::move(completed.standard_output) : "";
  } catch (const SystemError&) {
    return "";
  }
}

std::vector<std::string> teenyc_toolchains() {
  std::vector<std::string> found;
  std::istringstream lines(ask_rustup({"toolchain", "list"}));
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find(' '));
    if (name.find("teenyc") != std::string::npos) found.push_back(name);
  }
  return found;
}

fs::path teenyc_of(const std::string& toolchain) {
  std::string path = ask_rustup({"which", "--toolchain", toolchain, "teenyc"});
  return path.substr(0, path.find_first_of("\r\n"));
}

fs::path find_on_path(const std::string& program) {
  std::istringstream directories(variable("PATH"));
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path candidate = fs::path(directory.empty() ? "." : directory) / program;
    std::error_code failed;
    if (fs::is_regular_file(candidate, failed) && ::access(candidate.c_str(), X_OK) == 0) {
      return fs::absolute(candidate);
    }
  }
  return {};
}

}  // namespace

fs::path find_compiler(Frontend frontend) {
  if (frontend == Frontend::rust) {
    if (const std::string set = variable("TEENY_RUSTC_EXECUTABLE"); !set.empty()) {
      return resolve_compiler(set);
    }
  }
  if (const std::string set = variable("TEENYC_PATH"); !set.empty()) return resolve_compiler(set);
  const std::vector<std::string> toolchains = teenyc_toolchains();
  if (toolchains.size() == 1) {
    if (const fs::path teenyc = teenyc_of(toolchains.front()); !teenyc.empty()) {
      return resolve_compiler(teenyc);
    }
  }
  if (frontend == Frontend::rust) {
    if (const fs::path rustc = find_on_path("rustc"); !rustc.empty()) {
      return resolve_compiler(rustc);
    }
    throw Error(ErrorKind::environment,
                "find-compiler(rust): no rustc on PATH; install one of version 1.90 or newer, or "
                "set TEENY_RUSTC_EXECUTABLE to it");
  }
  std::string seen;
  for (const std::string& name : toolchains) seen += "\n  rustup toolchain " + name;
  throw Error(ErrorKind::environment,
              "find-compiler(triton): " +
                  std::string(toolchains.empty() ? "no rustup toolchain has teenyc in its name"
                                                 : "more than one toolchain has teenyc in its "
                                                   "name:" +
                                                       seen) +
                  "\nset TEENYC_PATH to a valid teenyc binary");
}

}  // namespace teeny::tool
