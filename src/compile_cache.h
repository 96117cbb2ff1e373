// The cache of compiled kernels, which any number of builds may share.
//
// Promises: an entry is found only if all its bytes are those that were stored; it appears by
// rename(2), members first and the manifest last, so death at any moment leaves no entry that is
// taken for good; one compile per entry as long as the file system has locks, and correct entries
// where it has none.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cache_key.h"
#include "file_lock.h"
#include "manifest.h"

namespace teeny::tool {

/// Whom the cache directory belongs to.
enum class CacheSharing {
  user,   ///< one user: entries of anybody else (root aside) are refused
  group,  ///< any member of the directory's group, by opt-in only
};

/// Names an entry: `<function>_<key of the rest>`.
struct EntryKey {
  std::string function;
  std::string id;
  std::string arch;
  std::optional<std::uint32_t> ptx_version;
  [[nodiscard]] std::string name() const;
};

/// The bytes of an entry, verified, in hand.
struct Entry {
  std::string object;               ///< PTX as the compiler wrote it
  std::string source;               ///< what was compiled
  std::optional<std::string> mlir;  ///< where the compiler wrote one
  std::string diagnostics;
  double compile_seconds = 0;
};

/// Why there is no entry to use; for people and for statistics: `new key`, `no manifest`,
/// `manifest damaged`, `.mlir differs from its digest`, …
struct Miss {
  std::string reason;
  /// Nothing is there that a manifest of ours goes with.
  bool without_manifest = false;
};

class CompileCache {
 public:
  /// The directory is created (0700, or 2775 for a group) if it is not there. Throws SystemError
  /// when it can't be used, and Error(environment) when it is refused for whose it is; the message
  /// names the switch.
  CompileCache(std::filesystem::path root, CacheSharing sharing);

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }
  [[nodiscard]] CacheSharing sharing() const noexcept { return sharing_; }
  /// Exact permission bits of files in a group's cache; empty: those of the umask.
  [[nodiscard]] std::optional<mode_t> file_mode() const noexcept;

  /// The entry, if its manifest is there and sound, names this key, has these `fields` (where
  /// given), and each member's bytes have its digest. Never throws for what it finds there. An
  /// entry that is found counts as used now, in steps of some minutes.
  [[nodiscard]] std::variant<Entry, Miss> find(const EntryKey& key,
                                               const std::vector<Fingerprint::Field>* fields) const;

  /// An entry that the Rust runtime left, without a manifest: the `.o` (and `.rs`) as they are.
  /// For builds without a compiler. Refuses one that is no complete PTX text.
  [[nodiscard]] std::variant<Entry, Miss> find_without_manifest(const EntryKey& key) const;

  /// The lock of an entry, waited for. Empty: go on without.
  [[nodiscard]] std::optional<FileLock> lock(const EntryKey& key,
                                             const FileLock::OnWait& on_wait) const;

  /// Stores an entry in place of what is there. Throws SystemError; nothing half-made is found.
  void publish(const EntryKey& key, const std::vector<Fingerprint::Field>& fields,
               const Entry& entry) const;

  /// What is wrong with the entry `name` (`<function>_<key>`), whose manifest is there.
  [[nodiscard]] std::optional<std::string> fault(const std::string& name) const;

  /// Whether `name` is an ID entry: its id is not the fingerprint of its fields. An entry whose
  /// manifest can't be read counts as one.
  [[nodiscard]] bool is_id_entry(const std::string& name) const;

  /// The manifests of all entries of a function, for comparison.
  [[nodiscard]] std::vector<Manifest> manifests_of(const std::string& function) const;

 private:
  [[nodiscard]] std::filesystem::path member(const std::string& name,
                                             std::string_view ending) const;
  [[nodiscard]] std::variant<Manifest, Miss> manifest_of(const std::string& name) const;
  [[nodiscard]] std::variant<Entry, Miss> read_entry(const std::string& name,
                                                     const Manifest& manifest) const;
  [[nodiscard]] std::optional<std::string> read_member(const std::filesystem::path& path,
                                                       std::string& why_not) const;

  std::filesystem::path root_;
  CacheSharing sharing_;
};

/// `directory` (from --cache-dir) or $TEENYC_CACHE_DIR or $XDG_CACHE_HOME/teeny or ~/.cache/teeny,
/// made absolute. Throws Error(environment) when none of them says where.
[[nodiscard]] std::filesystem::path cache_directory(const std::string& directory);

}  // namespace teeny::tool
