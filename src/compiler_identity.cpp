#include "compiler_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "atomic_file.h"
#include "error.h"
#include "file.h"
#include "file_lock.h"
#include "sha256.h"
#include "subprocess.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int k_format = 1;

std::string first_line_of(const std::vector<std::string>& arguments) {
  try {
    const Completed completed = run_command({arguments, current_environment(), {}});
    if (!completed.succeeded()) return "";
    return completed.standard_output.substr(0, completed.standard_output.find_first_of("\r\n"));
  } catch (const SystemError&) {
    return "";
  }
}

bool is_regular(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

// Of these every program has some; they say nothing about a compiler.
bool is_c_runtime(const std::string& name) {
  constexpr std::array<std::string_view, 10> k_prefixes = {
      "libc.so",  "libm.so",    "libdl.so",    "libpthread.so", "librt.so",
      "ld-linux", "linux-vdso", "libgcc_s.so", "libstdc++.so",  "libz.so"};
  return std::any_of(k_prefixes.begin(), k_prefixes.end(),
                     [&](std::string_view prefix) { return name.rfind(prefix, 0) == 0; });
}

bool is_elf(const fs::path& path) {
  try {
    const FileDescriptor fd = open_file(path, 0);
    std::array<char, 4> magic{};
    return ::read(fd.get(), magic.data(), magic.size()) == 4 &&
           std::string_view(magic.data(), magic.size()) ==
               "\x7f"
               "ELF";
  } catch (const SystemError&) {
    return false;
  }
}

// What the dynamic loader would map for `binary` (glibc's own way of asking).
std::vector<fs::path> loaded_libraries(const fs::path& binary) {
  std::vector<fs::path> result;
  std::vector<std::string> environment = current_environment();
  environment.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
  Completed traced;
  try {
    traced = run_command({{binary.string()}, environment, {}});
  } catch (const SystemError&) {
    return result;
  }
  std::istringstream lines(traced.standard_output);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view k_arrow = " => ";
    const std::size_t arrow = line.find(k_arrow);
    if (arrow == std::string::npos) continue;
    const std::size_t begin = arrow + k_arrow.size();
    const std::size_t end = line.rfind(" (");
    if (end == std::string::npos || end <= begin) continue;
    const fs::path library = line.substr(begin, end - begin);
    if (!is_c_runtime(library.filename().string())) result.push_back(library);
  }
  return result;
}

void add_files_in(const fs::path& directory, std::string_view infix, std::set<fs::path>& files) {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, failed)) {
    if (entry.path().filename().string().find(infix) != std::string::npos &&
        is_regular(entry.path())) {
      files.insert(entry.path());
    }
  }
}

// A prefix that holds one toolchain and nothing else: all its libraries count.
bool is_own_prefix(const fs::path& prefix) {
  return prefix != "/" && prefix != "/usr" && prefix != "/usr/local";
}

void add_toolchain(const fs::path& prefix, std::set<fs::path>& files) {
  if (is_own_prefix(prefix)) {
    for (const char* const lib : {"lib", "lib64"}) add_files_in(prefix / lib, ".so", files);
    std::error_code failed;
    for (const fs::directory_entry& host :
         fs::directory_iterator(prefix / "lib" / "rustlib", failed)) {
      add_files_in(host.path() / "codegen-backends", ".so", files);
    }
  }
  add_files_in(prefix / "lib" / "rustlib" / "nvptx64-nvidia-cuda" / "lib", ".rlib", files);
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// What tells a changed file from an unchanged one without reading it.
std::optional<Json> stamp_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Json::array({path.string(), status.st_dev, status.st_ino, status.st_size,
                      nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)});
}

bool changed_lately(const Json& stamp) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  constexpr std::int64_t k_margin = 2'000'000'000;
  return std::max(stamp[4].get<std::int64_t>(), stamp[5].get<std::int64_t>()) >=
         nanoseconds(now) - k_margin;
}

// Directories whose listing was looked at; a library that is added there changes their stamp.
std::set<fs::path> directories_of(const std::vector<fs::path>& files, const fs::path& compiler) {
  std::set<fs::path> result;
  for (const fs::path& file : files) {
    if (is_own_prefix(file.parent_path().parent_path()) && file != compiler) {
      result.insert(file.parent_path());
    }
  }
  return result;
}

// Of this user and host, never in a cache that others share. Empty: nowhere to remember.
fs::path memo_file(const fs::path& compiler) {
  const char* const xdg = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  fs::path base;
  if (xdg != nullptr && fs::path(xdg).is_absolute()) {
    base = xdg;
  } else if (home != nullptr && fs::path(home).is_absolute()) {
    base = fs::path(home) / ".cache";
  } else {
    return {};
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return {};
  // Another library path is another set of libraries.
  const char* const libraries = std::getenv("LD_LIBRARY_PATH");
  return base / "teeny-kernel" /
         ("compiler-" +
          sha256_hex(std::string(host.data()) + "\n" + compiler.string() + "\n" +
                     (libraries == nullptr ? "" : libraries)) +
          ".json");
}

std::optional<std::string> remembered(const fs::path& memo) {
  try {
    const Json json = Json::parse(read_file(memo), nullptr, false);
    if (!json.is_object() || json.value("format", 0) != k_format) return std::nullopt;
    for (const Json& stamp : json.at("stamps")) {
      if (stamp_of(stamp.at(0).get<std::string>()) != stamp) return std::nullopt;
    }
    std::string identity = json.at("identity").get<std::string>();
    if (!is_sha256_hex(identity)) return std::nullopt;
    return identity;
  } catch (const SystemError&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

fs::path resolve_compiler(const fs::path& path) {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (failed || !is_regular(real) || ::access(real.c_str(), X_OK) != 0) {
    throw Error(ErrorKind::environment,
                "compiler(" + path.string() + "): there is no such program");
  }
  // A proxy is rustup itself under another name, by symbolic or hard link.
  const fs::path rustup = path.parent_path() / "rustup";
  if (path.filename() != "rustup" &&
      (real.filename() == "rustup" || fs::equivalent(rustup, real, failed))) {
    const fs::path asked = real.filename() == "rustup" ? real : rustup;
    const std::string target = first_line_of({asked.string(), "which", path.filename().string()});
    if (target.empty() || !is_regular(target)) {
      throw Error(ErrorKind::environment, "compiler(" + path.string() +
                                              "): a rustup proxy, and `rustup which " +
                                              path.filename().string() + "` names no program");
    }
    return fs::canonical(target);
  }
  return real;
}

std::vector<fs::path> toolchain_files(const fs::path& compiler) {
  std::set<fs::path> files = {compiler};
  const fs::path bin = compiler.parent_path();
  if (bin.filename() == "bin") add_toolchain(bin.parent_path(), files);
  if (is_elf(compiler)) {
    for (const fs::path& library : loaded_libraries(compiler)) {
      std::error_code failed;
      const fs::path real = fs::canonical(library, failed);
      if (!failed) files.insert(real);
    }
  } else {
    // A wrapper: what it stands for counts as well.
    const fs::path sysroot = first_line_of({compiler.string(), "--print", "sysroot"});
    if (sysroot.is_absolute()) {
      for (const char* const name : {"rustc", "teenyc"}) {
        if (is_regular(sysroot / "bin" / name)) files.insert(sysroot / "bin" / name);
      }
      add_toolchain(sysroot, files);
    }
  }
  return {files.begin(), files.end()};
}

std::string compiler_identity(const fs::path& compiler) {
  const fs::path memo = memo_file(compiler);
  if (!memo.empty()) {
    if (const auto identity = remembered(memo)) return *identity;
  }
  // A toolchain has hundreds of megabytes: one reads them, the others wait.
  std::optional<FileLock> lock;
  if (!memo.empty()) {
    std::error_code failed;
    fs::create_directories(memo.parent_path(), failed);
    lock = FileLock::acquire(memo.string() + ".lock", std::nullopt, {});
    if (const auto identity = remembered(memo)) return *identity;
  }

  const std::vector<fs::path> files = toolchain_files(compiler);
  Json stamps = Json::array();
  bool trusted = true;
  for (const fs::path& file : files) {
    const std::optional<Json> stamp = stamp_of(file);
    trusted = trusted && stamp && !changed_lately(*stamp);
    if (stamp) stamps.push_back(*stamp);
  }
  for (const fs::path& directory : directories_of(files, compiler)) {
    if (const std::optional<Json> stamp = stamp_of(directory)) stamps.push_back(*stamp);
  }
  std::vector<std::string> lines;
  for (const fs::path& file : files) {
    lines.push_back(file.filename().string() + '\0' + sha256_of_file(file) + '\n');
  }
  std::sort(lines.begin(), lines.end());
  Sha256 hash;
  for (const std::string& line : lines) hash.update(line);
  std::string identity = hash.hex();

  if (trusted && !memo.empty()) {
    const Json json = {{"format", k_format}, {"stamps", stamps}, {"identity", identity}};
    try {
      write_file_atomically(memo, json.dump(), Durability::none);
    } catch (const SystemError&) {
      // Not remembered: the next run reads the toolchain again.
    }
  }
  return identity;
}

}  // namespace teeny::tool
