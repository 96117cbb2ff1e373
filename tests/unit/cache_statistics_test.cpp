#include "cache_statistics.h"

#include <gtest/gtest.h>

#include <thread>

#include "temporary_directory.h"

namespace teeny::tool {
namespace {

namespace fs = std::filesystem;

TEST(CacheStatistics, SumsEvents) {
  const TemporaryDirectory directory;
  const StatisticsLog log(directory.path(), std::nullopt);
  log.miss("new key");
  log.store(1000, 1.5);
  log.hit(1000, 1.5);
  log.hit(1000, 1.5);
  log.miss(".o differs from its digest");
  log.miss("new key");
  const CacheStatistics sums = read_statistics(directory.path());
  EXPECT_EQ(sums.hits, 2U);
  EXPECT_EQ(sums.misses.at("new key"), 2U);
  EXPECT_EQ(sums.misses.at(".o differs from its digest"), 1U);
  EXPECT_EQ(sums.stores, 1U);
  EXPECT_EQ(sums.saved_bytes, 2000U);
  EXPECT_DOUBLE_EQ(sums.saved_seconds, 3.0);
  EXPECT_DOUBLE_EQ(sums.stored_seconds, 1.5);
}

TEST(CacheStatistics, ManyWritersLoseNothing) {
  const TemporaryDirectory directory;
  std::vector<std::thread> writers;
  for (int i = 0; i < 16; ++i) {
    writers.emplace_back([&] {
      const StatisticsLog log(directory.path(), std::nullopt);
      for (int k = 0; k < 200; ++k) log.hit(1, 0);
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(read_statistics(directory.path()).hits, 3200U);
}

TEST(CacheStatistics, GarbageCountsForNothing) {
  const TemporaryDirectory directory;
  fs::create_directories(directory.path() / "stats");
  write_file(directory.path() / "stats" / "20200101.h.log",
             "hit 5 1.0\nhit\nhit x y\n\xff\xfe\nmiss\nnonsense 1\nhit 7 1");
  write_file(directory.path() / "stats" / "summary.json", "{");
  EXPECT_EQ(read_statistics(directory.path()).hits, 2U);
  EXPECT_EQ(read_statistics(directory.path()).saved_bytes, 12U);
}

TEST(CacheStatistics, CondensingKeepsTheSums) {
  const TemporaryDirectory directory;
  const fs::path stats = directory.path() / "stats";
  fs::create_directories(stats);
  write_file(stats / "20200101.h.log", "hit 5 1.0\nmiss new key\n");
  write_file(stats / "20200102.h.log", "store 5 1.0\n");
  StatisticsLog(directory.path(), std::nullopt).hit(1, 0);
  const CacheStatistics before = read_statistics(directory.path());
  condense_statistics(directory.path(), std::nullopt);
  EXPECT_FALSE(fs::exists(stats / "20200101.h.log"));
  EXPECT_EQ(read_statistics(directory.path()), before);
  // As after a death between the summary and the deletion: its logs are there once more.
  write_file(stats / "20200101.h.log", "hit 5 1.0\nmiss new key\n");
  EXPECT_EQ(read_statistics(directory.path()), before);
  condense_statistics(directory.path(), std::nullopt);
  EXPECT_EQ(read_statistics(directory.path()), before);
  condense_statistics(directory.path(), std::nullopt);
  EXPECT_EQ(read_statistics(directory.path()), before);
}

TEST(CacheStatistics, NeverFails) {
  const StatisticsLog log("/no/such/cache", std::nullopt);
  log.hit(1, 1);
  log.miss("x");
  EXPECT_EQ(read_statistics("/no/such/cache"), CacheStatistics());
}

}  // namespace
}  // namespace teeny::tool
