#include "cache_maintenance.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "temporary_directory.h"

namespace teeny::tool {
namespace {

namespace fs = std::filesystem;

void set_age(const fs::path& file, long seconds) {
  const timespec times[2] = {{std::time(nullptr) - seconds, 0}, {std::time(nullptr) - seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}

class CacheMaintenance : public testing::Test {
 protected:
  // A content entry: its id is the fingerprint of its fields.
  std::string add(const std::string& function, long age) {
    Fingerprint fingerprint;
    fingerprint.add("function", function);
    return add({function, fingerprint.id(), "sm_90", {}}, fingerprint, age);
  }
  std::string add(const EntryKey& key, const Fingerprint& fingerprint, long age) {
    cache.publish(key, fingerprint.fields(), {std::string(1000, 'x'), "fn", {}, "", 1});
    (void)cache.lock(key, {});
    set_age(path(key.name(), ".json"), age);
    return key.name();
  }
  [[nodiscard]] fs::path path(const std::string& name, std::string_view ending) const {
    return cache.root() / (name + std::string(ending));
  }
  [[nodiscard]] bool there(const std::string& name, std::string_view ending = ".json") const {
    return fs::exists(path(name, ending));
  }

  TemporaryDirectory directory;
  CompileCache cache{directory.path() / "cache", CacheSharing::user};
};

TEST_F(CacheMaintenance, PruneTakesTheLeastRecentlyUsed) {
  const std::string oldest = add("a", 5000);
  const std::string newest = add("b", 10);
  const std::string middle = add("c", 3000);
  const std::uint64_t all = cache_contents(cache.root()).bytes;
  const PruneReport report = prune_cache(cache, {all - 1, {}, {}});
  EXPECT_EQ(report.deleted_entries, 1U);
  EXPECT_FALSE(there(oldest));
  for (const char* const ending : {".o", ".rs", ".lock"}) EXPECT_FALSE(there(oldest, ending));
  EXPECT_TRUE(there(middle));
  EXPECT_EQ(report.left.entries, 2U);
  prune_cache(cache, {{}, std::chrono::seconds(1000), {}});
  EXPECT_FALSE(there(middle));
  EXPECT_TRUE(there(newest));
}

TEST_F(CacheMaintenance, AHitCountsAsUse) {
  const std::string name = add("a", 5000);
  Fingerprint fingerprint;
  fingerprint.add("function", "a");
  const auto found = cache.find({"a", fingerprint.id(), "sm_90", {}}, nullptr);
  ASSERT_TRUE(std::holds_alternative<Entry>(found));
  prune_cache(cache, {{}, std::chrono::seconds(1000), {}});
  EXPECT_TRUE(there(name));
}

TEST_F(CacheMaintenance, WhatIsNotOursStays) {
  write_file(cache.root() / "relu_00.o", "ptx of the Rust runtime");
  write_file(cache.root() / "relu_00.lock", "");
  write_file(cache.root() / "notes.txt", "x");
  const std::string id_entry = add({"k", "k__f32", "sm_90", {}}, Fingerprint(), 5000);
  prune_cache(cache, {0, {}, {}});
  clear_cache(cache);
  EXPECT_FALSE(there(id_entry));
  EXPECT_TRUE(there(id_entry, ".lock"));
  for (const char* const name : {"relu_00.o", "relu_00.lock", "notes.txt"}) {
    EXPECT_TRUE(fs::exists(cache.root() / name)) << name;
  }
}

TEST_F(CacheMaintenance, TemporariesGoByAge) {
  write_file(cache.root() / "k_0.o.tmp.0123456789abcdef", "");
  write_file(cache.root() / "k_1.o.tmp.0123456789abcdef", "");
  set_age(cache.root() / "k_0.o.tmp.0123456789abcdef", 2L * 60 * 60);
  EXPECT_EQ(prune_cache(cache, {}).deleted_temporaries, 1U);
  EXPECT_TRUE(fs::exists(cache.root() / "k_1.o.tmp.0123456789abcdef"));
}

TEST_F(CacheMaintenance, AnEntryWhoseLockIsHeldStays) {
  const std::string name = add("a", 5000);
  Fingerprint fingerprint;
  fingerprint.add("function", "a");
  const auto held = cache.lock({"a", fingerprint.id(), "sm_90", {}}, {});
  prune_cache(cache, {0, {}, {}});
  EXPECT_TRUE(there(name));
}

TEST_F(CacheMaintenance, NothingIsDeletedWhenTheTimeIsOver) {
  const std::string name = add("a", 5000);
  prune_cache(cache, {0, {}, std::chrono::milliseconds(-1)});
  EXPECT_TRUE(there(name));
}

TEST_F(CacheMaintenance, VerifyFindsAndRepairs) {
  const std::string good = add("a", 0);
  const std::string bad = add("b", 0);
  write_file(path(bad, ".o"), std::string(1000, 'y'));
  VerifyReport report = verify_cache(cache, Repair::no);
  EXPECT_EQ(report.sound, 1U);
  ASSERT_EQ(report.damaged.size(), 1U);
  EXPECT_EQ(report.damaged[0].name, bad);
  EXPECT_EQ(report.damaged[0].reason, ".o differs from its digest");
  EXPECT_TRUE(there(bad));
  (void)verify_cache(cache, Repair::yes);
  EXPECT_FALSE(there(bad));
  EXPECT_TRUE(there(good));
}

TEST_F(CacheMaintenance, InPassingAtMostOnceAMinute) {
  write_file(cache.root() / "teeny.conf", "max_size = 0\n");
  const std::string first = add("a", 0);
  prune_in_passing(cache);
  EXPECT_FALSE(there(first));
  const std::string second = add("b", 0);
  prune_in_passing(cache);
  EXPECT_TRUE(there(second));
  set_age(cache.root() / "prune.stamp", 61);
  prune_in_passing(cache);
  EXPECT_FALSE(there(second));
}

TEST_F(CacheMaintenance, AGroupsCacheIsPrunedOnlyIfItSaysSo) {
  const CompileCache shared(directory.path() / "shared", CacheSharing::group);
  Fingerprint fingerprint;
  shared.publish({"a", fingerprint.id(), "sm_90", {}}, {}, {"x", "fn", {}, "", 1});
  write_file(shared.root() / "teeny.conf", "max_size = 0\n");
  prune_in_passing(shared);
  EXPECT_EQ(cache_contents(shared.root()).entries, 1U);
  write_file(shared.root() / "teeny.conf", "max_size = 0\nprune_shared = yes\n");
  set_age(shared.root() / "prune.stamp", 61);
  prune_in_passing(shared);
  EXPECT_EQ(cache_contents(shared.root()).entries, 0U);
}

}  // namespace
}  // namespace teeny::tool
