#include "compile_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "atomic_file.h"
#include "error.h"
#include "file.h"
#include "ptx.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;

constexpr mode_t k_group_directory = 02775;
constexpr mode_t k_group_file = 0664;
// Far above any kernel; keeps a planted monster from filling the memory.
constexpr off_t k_largest_member = off_t{1} << 30;

void create_root(const fs::path& root, CacheSharing sharing) {
  std::error_code failed;
  if (root.has_parent_path()) fs::create_directories(root.parent_path(), failed);
  if (::mkdir(root.c_str(), 0700) != 0) {
    const int code = errno;
    if (code == EEXIST) return;
    throw SystemError(code, "mkdir", root.string());
  }
  if (sharing == CacheSharing::group && ::chmod(root.c_str(), k_group_directory) != 0) {
    const int code = errno;
    throw SystemError(code, "chmod", root.string());
  }
}

// The time of a manifest is the last use of its entry; kept to some minutes, so that a hit seldom
// writes. Where it can't be set (a read-only cache) nothing is lost.
void note_use(const fs::path& manifest) {
  constexpr std::time_t k_step = 10 * 60;
  struct stat status {};
  if (::lstat(manifest.c_str(), &status) == 0 && std::time(nullptr) - status.st_mtime > k_step) {
    ::utimensat(AT_FDCWD, manifest.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  }
}

// Name of the first field that is not the same; the lists differ.
std::string first_difference(const std::vector<Fingerprint::Field>& a,
                             const std::vector<Fingerprint::Field>& b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return in_b != b.end() ? in_b->first : in_a->first;
}

EntryKey key_of(const Manifest& manifest) {
  return {manifest.function, manifest.id, manifest.arch, manifest.ptx_version};
}

[[noreturn]] void refuse(const fs::path& root, const std::string& why) {
  throw Error(ErrorKind::environment, "cache(" + root.string() + "): refused: " + why);
}

}  // namespace

std::string EntryKey::name() const {
  return entry_name(function, cache_key(id, arch, ptx_version));
}

CompileCache::CompileCache(fs::path root, CacheSharing sharing)
    : root_(std::move(root)), sharing_(sharing) {
  struct stat status {};
  if (::lstat(root_.c_str(), &status) != 0) {
    create_root(root_, sharing_);
    if (::lstat(root_.c_str(), &status) != 0) {
      const int code = errno;
      throw SystemError(code, "lstat", root_.string());
    }
  }
  if (S_ISLNK(status.st_mode)) refuse(root_, "it is a symbolic link");
  if (!S_ISDIR(status.st_mode)) refuse(root_, "it is not a directory");
  constexpr std::string_view k_switch =
      "; a cache for a group needs --cache-shared (TEENY_CACHE_SHARED)";
  if ((status.st_mode & S_IWOTH) != 0) refuse(root_, "everybody may write to it");
  if (sharing_ == CacheSharing::group) return;
  const bool ours = status.st_uid == ::geteuid();
  const bool closed = (status.st_mode & S_IWGRP) == 0;
  if (!ours && !(status.st_uid == 0 && closed)) {
    refuse(root_, "it belongs to another user (" + std::to_string(status.st_uid) + ")" +
                      std::string(k_switch));
  }
}

std::optional<mode_t> CompileCache::file_mode() const noexcept {
  return sharing_ == CacheSharing::group ? std::optional<mode_t>(k_group_file) : std::nullopt;
}

fs::path CompileCache::member(const std::string& name, std::string_view ending) const {
  return root_ / (name + "." + std::string(ending));
}

std::optional<std::string> CompileCache::read_member(const fs::path& path,
                                                     std::string& why_not) const {
  const std::string name = path.extension().string();
  try {
    const FileDescriptor fd = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      why_not = name + " is not a regular file";
    } else if (sharing_ == CacheSharing::user && status.st_uid != ::geteuid() &&
               status.st_uid != 0) {
      why_not = name + " belongs to another user";
    } else if ((status.st_mode & S_IWOTH) != 0) {
      why_not = name + " may be written by everybody";
    } else if (status.st_size > k_largest_member) {
      why_not = name + " is too large";
    } else {
      return read_all(fd.get(), path);
    }
  } catch (const SystemError& error) {
    why_not = error.code() == ENOENT ? "no " + name : error.what();
  }
  return std::nullopt;
}

std::variant<Manifest, Miss> CompileCache::manifest_of(const std::string& name) const {
  std::string why_not;
  const std::optional<std::string> text = read_member(member(name, "json"), why_not);
  if (!text) {
    if (why_not != "no .json") return Miss{why_not};
    struct stat status {};
    const bool object_is_there = ::lstat(member(name, "o").c_str(), &status) == 0;
    return Miss{object_is_there ? "no manifest" : "new key", true};
  }
  std::optional<Manifest> manifest = read_manifest(*text);
  if (!manifest) return Miss{"manifest damaged"};
  if (key_of(*manifest).name() != name) return Miss{"manifest names another kernel"};
  return std::move(*manifest);
}

std::variant<Entry, Miss> CompileCache::read_entry(const std::string& name,
                                                   const Manifest& manifest) const {
  Entry entry;
  entry.diagnostics = manifest.diagnostics;
  entry.compile_seconds = manifest.compile_seconds;
  for (const char* const required : {"o", "rs"}) {
    if (!manifest.members.contains(required)) return Miss{"manifest incomplete"};
  }
  for (const auto& [ending, digest] : manifest.members) {
    std::string why_not;
    std::optional<std::string> bytes = read_member(member(name, ending), why_not);
    if (!bytes) return Miss{why_not};
    if (digest_of(*bytes) != digest) return Miss{"." + ending + " differs from its digest"};
    if (ending == "o") entry.object = std::move(*bytes);
    if (ending == "rs") entry.source = std::move(*bytes);
    if (ending == "mlir") entry.mlir = std::move(*bytes);
  }
  return entry;
}

std::variant<Entry, Miss> CompileCache::find(const EntryKey& key,
                                             const std::vector<Fingerprint::Field>* fields) const {
  const std::string name = key.name();
  const auto manifest = manifest_of(name);
  if (const Miss* const miss = std::get_if<Miss>(&manifest)) return *miss;
  const auto& sound = std::get<Manifest>(manifest);
  if (fields != nullptr && sound.fields != *fields) {
    return Miss{"fingerprint differs in field " + first_difference(sound.fields, *fields)};
  }
  auto entry = read_entry(name, sound);
  if (std::holds_alternative<Entry>(entry)) note_use(member(name, "json"));
  return entry;
}

std::optional<std::string> CompileCache::fault(const std::string& name) const {
  const auto manifest = manifest_of(name);
  if (const Miss* const miss = std::get_if<Miss>(&manifest)) return miss->reason;
  const auto entry = read_entry(name, std::get<Manifest>(manifest));
  if (const Miss* const miss = std::get_if<Miss>(&entry)) return miss->reason;
  return std::nullopt;
}

bool CompileCache::is_id_entry(const std::string& name) const {
  const auto manifest = manifest_of(name);
  if (std::holds_alternative<Miss>(manifest)) return true;
  Fingerprint fingerprint;
  for (const auto& [field, value] : std::get<Manifest>(manifest).fields) {
    fingerprint.add(field, value);
  }
  return fingerprint.id() != std::get<Manifest>(manifest).id;
}

std::vector<Manifest> CompileCache::manifests_of(const std::string& function) const {
  std::vector<Manifest> manifests;
  std::error_code failed;
  for (const fs::directory_entry& file : fs::directory_iterator(root_, failed)) {
    const fs::path& path = file.path();
    if (path.extension() != ".json" || path.filename().string().rfind(function + "_", 0) != 0) {
      continue;
    }
    const auto manifest = manifest_of(path.stem().string());
    const Manifest* const sound = std::get_if<Manifest>(&manifest);
    if (sound != nullptr && sound->function == function) manifests.push_back(*sound);
  }
  return manifests;
}

std::variant<Entry, Miss> CompileCache::find_without_manifest(const EntryKey& key) const {
  const std::string name = key.name();
  std::string why_not;
  std::optional<std::string> object = read_member(member(name, "o"), why_not);
  if (!object) return Miss{why_not};
  if (const std::optional<std::string> fault = ptx_fault(*object)) {
    return Miss{".o is not PTX: " + *fault};
  }
  Entry entry;
  entry.object = std::move(*object);
  entry.source = read_member(member(name, "rs"), why_not).value_or("");
  entry.mlir = read_member(member(name, "mlir"), why_not);
  return entry;
}

std::optional<FileLock> CompileCache::lock(const EntryKey& key,
                                           const FileLock::OnWait& on_wait) const {
  return FileLock::acquire(member(key.name(), "lock"), file_mode(), on_wait);
}

void CompileCache::publish(const EntryKey& key, const std::vector<Fingerprint::Field>& fields,
                           const Entry& entry) const {
  Manifest manifest{key.function, key.id, key.arch,          key.ptx_version,
                    fields,       {},     entry.diagnostics, entry.compile_seconds};
  const std::string name = key.name();
  std::vector<AtomicFile> files;
  const auto stage = [&](std::string_view ending, std::string_view bytes) {
    manifest.members[std::string(ending)] = digest_of(bytes);
    files.emplace_back(member(name, ending), bytes, Durability::sync, file_mode());
  };
  // The order of renames: a reader of `.o` alone (the Rust runtime) finds its `.mlir` there.
  stage("rs", entry.source);
  if (entry.mlir) stage("mlir", *entry.mlir);
  stage("o", entry.object);
  files.emplace_back(member(name, "json"), write_manifest(manifest), Durability::sync, file_mode());
  if (!entry.mlir) remove_file(member(name, "mlir"));
  for (AtomicFile& file : files) file.commit();
}

fs::path cache_directory(const std::string& directory) {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (!directory.empty()) return fs::absolute(directory);
  if (const std::string set = variable("TEENYC_CACHE_DIR"); !set.empty()) return fs::absolute(set);
  // XDG Base Directory Specification: a relative value is to be ignored.
  if (const std::string set = variable("XDG_CACHE_HOME"); fs::path(set).is_absolute()) {
    return fs::path(set) / "teeny";
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    return fs::absolute(home) / ".cache" / "teeny";
  }
  throw Error(ErrorKind::environment,
              "cache: no directory; set HOME, TEENYC_CACHE_DIR or --cache-dir");
}

}  // namespace teeny::tool
