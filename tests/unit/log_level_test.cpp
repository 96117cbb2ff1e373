#include "log_level.h"

#include <gtest/gtest.h>

#include "error.h"

namespace teeny::tool {
namespace {

TEST(LogLevel, TrimsAndIgnoresCase) {
  EXPECT_EQ(parse_log_level(" \tDeBuG\r\n"), LogLevel::debug);
  for (const LogLevel level :
       {LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug, LogLevel::trace}) {
    EXPECT_EQ(parse_log_level(to_string(level)), level);
  }
}

TEST(LogLevel, AnythingElseNamesTheAcceptedOnes) {
  for (const char* const text : {"loud", "", "debug trace", "warning"}) {
    try {
      (void)parse_log_level(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.what(), "unknown log level '" + std::string(text) +
                                  "'; expected one of error, warn, info, debug, trace");
    }
  }
}

}  // namespace
}  // namespace teeny::tool
