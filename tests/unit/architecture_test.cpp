#include "architecture.h"

#include <gtest/gtest.h>

#include "error.h"

namespace teeny::tool {
namespace {

TEST(Architecture, AllSpellings) {
  for (const char* const text : {"sm_90", "sm-90", "SM90", "sm90", "90", "90-real", "90-virtual"}) {
    EXPECT_EQ(parse_architecture(text).text(), "sm_90") << text;
  }
  EXPECT_EQ(parse_architecture("90a").text(), "sm_90a");
  EXPECT_EQ(parse_architecture("SM_120F").text(), "sm_120f");
  EXPECT_EQ(parse_architecture("100a-real").text(), "sm_100a");
}

TEST(Architecture, RefusesWhatIsNone) {
  for (const char* const text : {"", "sm_", "9", "90b", "90aa", "sm_ninety", "1234", "-90", "090",
                                 "+90", "90 ", "compute_90", "90-", "-real", "all"}) {
    EXPECT_THROW((void)parse_architecture(text), Error) << text;
  }
}

TEST(PtxVersion, DottedOrPlain) {
  EXPECT_EQ(parse_ptx_version("8.2"), 82U);
  EXPECT_EQ(parse_ptx_version("82"), 82U);
  EXPECT_EQ(parse_ptx_version("10.0"), 100U);
  for (const char* const text :
       {"", "8.", ".2", "8.22", "8.2.1", "v82", "-5", " 82", "4294967296"}) {
    EXPECT_THROW((void)parse_ptx_version(text), Error) << text;
  }
}

}  // namespace
}  // namespace teeny::tool
