#include "compile_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "temporary_directory.h"

namespace teeny::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_ptx = ".version 8.0\n.target sm_90\n.visible .entry k()\n{\n}\n";

class CompileCacheTest : public testing::Test {
 protected:
  [[nodiscard]] Miss miss(const EntryKey& key) const {
    const auto found = cache.find(key, &fields);
    return std::holds_alternative<Miss>(found) ? std::get<Miss>(found) : Miss{"it is a hit"};
  }
  [[nodiscard]] fs::path member(std::string_view ending) const {
    return cache.root() / (key.name() + std::string(ending));
  }

  TemporaryDirectory directory;
  CompileCache cache{directory.path() / "cache", CacheSharing::user};
  EntryKey key{"k", "id", "sm_90", 82};
  std::vector<Fingerprint::Field> fields = {{"format", "1"}};
  Entry entry{k_ptx, "fn k() {}", "module {}", "warning: x", 1.5};
};

TEST_F(CompileCacheTest, FindsWhatWasPublished) {
  EXPECT_TRUE(miss(key).without_manifest);
  cache.publish(key, fields, entry);
  const auto found = cache.find(key, &fields);
  ASSERT_TRUE(std::holds_alternative<Entry>(found));
  EXPECT_EQ(std::get<Entry>(found).object, entry.object);
  EXPECT_EQ(std::get<Entry>(found).source, entry.source);
  EXPECT_EQ(std::get<Entry>(found).mlir, entry.mlir);
  EXPECT_EQ(std::get<Entry>(found).diagnostics, entry.diagnostics);
  for (const char* const ending : {".o", ".rs", ".mlir", ".json"}) {
    EXPECT_TRUE(fs::exists(member(ending))) << ending;
  }
}

TEST_F(CompileCacheTest, ChangedMemberIsAMissAndPublishingRepairsIt) {
  for (const char* const ending : {".o", ".rs", ".mlir", ".json"}) {
    cache.publish(key, fields, entry);
    std::string bytes = read_file(member(ending));
    bytes[bytes.size() / 2] ^= 1;
    write_file(member(ending), bytes);
    EXPECT_NE(miss(key).reason, "it is a hit") << ending;
    write_file(member(ending), "");
    EXPECT_NE(miss(key).reason, "it is a hit") << ending;
    write_file(member(ending), std::string(bytes.size(), '\0'));
    EXPECT_NE(miss(key).reason, "it is a hit") << ending;
    fs::remove(member(ending));
    EXPECT_NE(miss(key).reason, "it is a hit") << ending;
    cache.publish(key, fields, entry);
    EXPECT_EQ(miss(key).reason, "it is a hit") << ending;
  }
}

TEST_F(CompileCacheTest, OtherFieldsAreAMiss) {
  cache.publish(key, fields, entry);
  const std::vector<std::pair<std::vector<Fingerprint::Field>, std::string>> others = {
      {{{"format", "2"}}, "format"},
      {{}, "format"},
      {{{"format", "1"}, {"option", "x"}}, "option"}};
  for (const auto& [other, name] : others) {
    const auto found = cache.find(key, &other);
    ASSERT_TRUE(std::holds_alternative<Miss>(found));
    EXPECT_EQ(std::get<Miss>(found).reason, "fingerprint differs in field " + name);
  }
  EXPECT_TRUE(std::holds_alternative<Entry>(cache.find(key, nullptr)));
}

TEST_F(CompileCacheTest, AnEntryUnderAnotherNameIsAMiss) {
  cache.publish(key, fields, entry);
  const EntryKey other{"k", "id", "sm_90", 83};
  for (const char* const ending : {".o", ".rs", ".mlir", ".json"}) {
    fs::copy_file(member(ending), cache.root() / (other.name() + ending));
  }
  EXPECT_EQ(miss(other).reason, "manifest names another kernel");
}

TEST_F(CompileCacheTest, WhatIsNoRegularFileIsNeverOpened) {
  for (const char* const ending : {".o", ".json"}) {
    cache.publish(key, fields, entry);
    const std::string bytes = read_file(member(ending));
    fs::remove(member(ending));
    write_file(directory.path() / "elsewhere", bytes);
    fs::create_symlink(directory.path() / "elsewhere", member(ending));
    EXPECT_NE(miss(key).reason, "it is a hit") << "symbolic link " << ending;
    fs::remove(member(ending));
    ASSERT_EQ(::mkfifo(member(ending).c_str(), 0600), 0);
    EXPECT_NE(miss(key).reason, "it is a hit") << "FIFO " << ending;
    fs::remove(member(ending));
    fs::create_directory(member(ending));
    EXPECT_NE(miss(key).reason, "it is a hit") << "directory " << ending;
    fs::remove(member(ending));
  }
}

TEST_F(CompileCacheTest, WhatEverybodyMayWriteIsRefused) {
  cache.publish(key, fields, entry);
  ASSERT_EQ(::chmod(member(".o").c_str(), 0666), 0);
  EXPECT_NE(miss(key).reason, "it is a hit");
  ASSERT_EQ(::chmod(cache.root().c_str(), 0777), 0);
  EXPECT_THROW(CompileCache(cache.root(), CacheSharing::user), Error);
  EXPECT_THROW(CompileCache(cache.root(), CacheSharing::group), Error);
}

TEST_F(CompileCacheTest, ASymbolicLinkIsNoRoot) {
  fs::create_directory_symlink(cache.root(), directory.path() / "link");
  EXPECT_THROW(CompileCache(directory.path() / "link", CacheSharing::user), Error);
}

TEST_F(CompileCacheTest, EntriesOfTheRustRuntimeHaveNoManifest) {
  write_file(member(".o"), k_ptx);
  EXPECT_TRUE(miss(key).without_manifest);
  const auto found = cache.find_without_manifest(key);
  ASSERT_TRUE(std::holds_alternative<Entry>(found));
  EXPECT_EQ(std::get<Entry>(found).object, k_ptx);
  write_file(member(".o"), "");
  EXPECT_TRUE(std::holds_alternative<Miss>(cache.find_without_manifest(key)));
  write_file(member(".o"), std::string(k_ptx).substr(0, 50));
  EXPECT_TRUE(std::holds_alternative<Miss>(cache.find_without_manifest(key)));
}

TEST_F(CompileCacheTest, LeavesNoTemporaries) {
  cache.publish(key, fields, entry);
  for (const auto& file : fs::directory_iterator(cache.root())) {
    EXPECT_EQ(file.path().filename().string().find(".tmp."), std::string::npos) << file.path();
  }
}

TEST(CacheDirectory, OrderOfSources) {
  ::setenv("HOME", "/home/x", 1);
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("TEENYC_CACHE_DIR");
  EXPECT_EQ(cache_directory(""), "/home/x/.cache/teeny");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_directory(""), "/home/x/.cache/teeny");
  ::setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(cache_directory(""), "/xdg/teeny");
  ::setenv("TEENYC_CACHE_DIR", "rel", 1);
  EXPECT_EQ(cache_directory(""), fs::current_path() / "rel");
  EXPECT_EQ(cache_directory("/given"), "/given");
  for (const char* const name : {"HOME", "XDG_CACHE_HOME", "TEENYC_CACHE_DIR"}) ::unsetenv(name);
  EXPECT_THROW((void)cache_directory(""), Error);
}

}  // namespace
}  // namespace teeny::tool
