#include "cache_settings.h"

#include <gtest/gtest.h>

#include "error.h"
#include "temporary_directory.h"

namespace teeny::tool {
namespace {

using std::chrono::seconds;

TEST(ParseSize, BinaryUnits) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("1000"), 1000U);
  EXPECT_EQ(parse_size("1000B"), 1000U);
  EXPECT_EQ(parse_size("2K"), 2048U);
  EXPECT_EQ(parse_size("3MiB"), 3U << 20U);
  EXPECT_EQ(parse_size("5GB"), std::uint64_t{5} << 30U);
  for (const char* const text :
       {"", "G", "-1", "1X", "1 G", "1Gb", "1.5G", "18446744073709551615K"}) {
    EXPECT_THROW((void)parse_size(text), Error) << text;
  }
}

TEST(ParseAge, Units) {
  EXPECT_EQ(parse_age("45"), seconds(45));
  EXPECT_EQ(parse_age("45s"), seconds(45));
  EXPECT_EQ(parse_age("2m"), seconds(120));
  EXPECT_EQ(parse_age("1h"), seconds(3600));
  EXPECT_EQ(parse_age("30d"), seconds(2592000));
  for (const char* const text : {"", "d", "1y", "-1d", "1 d", "18446744073709551615d"}) {
    EXPECT_THROW((void)parse_age(text), Error) << text;
  }
}

TEST(CacheSettings, DefaultsAndFile) {
  const TemporaryDirectory directory;
  EXPECT_EQ(read_cache_settings(directory.path()).max_bytes, std::uint64_t{5} << 30U);
  EXPECT_FALSE(read_cache_settings(directory.path()).prune_shared);
  write_file(
      directory.path() / "teeny.conf",
      "# of the team\n max_size = 1M # small\nmax_age=2d\r\nprune_shared = yes\nother = 1\n");
  const CacheSettings settings = read_cache_settings(directory.path());
  EXPECT_EQ(settings.max_bytes, 1U << 20U);
  EXPECT_EQ(settings.max_age, seconds(172800));
  EXPECT_TRUE(settings.prune_shared);
  write_file(directory.path() / "teeny.conf", "max_size = lots\nmax_age = 1d\n");
  EXPECT_EQ(read_cache_settings(directory.path()).max_bytes, std::uint64_t{5} << 30U);
  EXPECT_EQ(read_cache_settings(directory.path()).max_age, seconds(86400));
}

}  // namespace
}  // namespace teeny::tool
