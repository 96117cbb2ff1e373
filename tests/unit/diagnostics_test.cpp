#include "diagnostics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace teeny::tool {
namespace {

// 1000 lines of prelude, 5 of the first file, then the second.
TextOrigin origin(std::size_t line) {
  if (line <= 1000) return {"prelude.rs", line};
  if (line <= 1005) return {"a b.rs", line - 1000};
  return {"/src/b.rs", line - 1005};
}

std::string remap(std::string_view text) { return remap_diagnostics(text, "k_00.rs", origin); }

TEST(Diagnostics, PathLineAndGutter) {
  EXPECT_EQ(remap(R"(error[E0308]: mismatched types
    --> k_00.rs:1008:18
     |
1006 |     fn k(
     |        - here
...
1008 |     let a: i32 = 1.0;
     |            ---   ^^^ expected `i32`, found floating-point number
     |            |
     |            expected due to this
     = note: see
help: use a number
     |
1008 -     let a: i32 = 1.0;
1008 +     let a: i32 = 1;
     |

error: aborting due to 1 previous error

)"),
            R"(error[E0308]: mismatched types
 --> /src/b.rs:3:18
  |
1 |     fn k(
  |        - here
...
3 |     let a: i32 = 1.0;
  |            ---   ^^^ expected `i32`, found floating-point number
  |            |
  |            expected due to this
  = note: see
help: use a number
  |
3 -     let a: i32 = 1.0;
3 +     let a: i32 = 1;
  |

error: aborting due to 1 previous error

)");
}

TEST(Diagnostics, SeveralFilesShareOneGutter) {
  EXPECT_EQ(remap("error: x\n"
                  "    --> k_00.rs:1105:1\n"
                  "     |\n"
                  "1105 | foo()\n"
                  "     | ^^^\n"
                  "     |\n"
                  "note: in the prelude\n"
                  "    --> k_00.rs:998:5\n"
                  "     |\n"
                  "998  | fn foo(x: u32)\n"
                  "     |    ^^^\n"
                  "    ::: k_00.rs:1002:5\n"
                  "     |\n"
                  "1002 | x\n"
                  "     | -\n"
                  "\n"),
            "error: x\n"
            "   --> /src/b.rs:100:1\n"
            "    |\n"
            "100 | foo()\n"
            "    | ^^^\n"
            "    |\n"
            "note: in the prelude\n"
            "   --> prelude.rs:998:5\n"
            "    |\n"
            "998 | fn foo(x: u32)\n"
            "    |    ^^^\n"
            "   ::: a b.rs:2:5\n"
            "    |\n"
            "2   | x\n"
            "    | -\n"
            "\n");
}

TEST(Diagnostics, ColoursStay) {
  const std::string in =
      "\x1b[1m\x1b[91merror\x1b[0m: x\n"
      "    \x1b[1m\x1b[94m--> \x1b[0mk_00.rs:1003:2\n"
      "     \x1b[1m\x1b[94m|\x1b[0m\n"
      "\x1b[1m\x1b[94m1003\x1b[0m \x1b[1m\x1b[94m|\x1b[0m  foo\n\n";
  const std::string out = remap(in);
  EXPECT_EQ(without_colours(out), "error: x\n --> a b.rs:3:2\n  |\n3 |  foo\n\n");
  EXPECT_NE(out.find("\x1b[1m\x1b[94m3\x1b[0m \x1b[1m\x1b[94m|\x1b[0m  foo"), std::string::npos)
      << out;
}

TEST(Diagnostics, OtherFilesAndOtherTextStay) {
  const std::string text =
      "error: x\n --> /core/lib.rs:7:1\n  |\n7 | y\n  | ^\n\n"
      "1234 | no diagnostic\nthread 'rustc' panicked at x.rs:1005:1:\nk_00.rs: no line\n";
  EXPECT_EQ(remap(text), text);
  EXPECT_EQ(remap("k_00.rs:1001:4: error: short form"), "a b.rs:1:4: error: short form");
  EXPECT_EQ(remap(""), "");
}

TEST(Diagnostics, JsonLines) {
  const nlohmann::json in = {
      {"$message_type", "diagnostic"},
      {"spans", {{{"file_name", "k_00.rs"}, {"line_start", 1007}, {"line_end", 1008}}}},
      {"children", {{{"spans", {{{"file_name", "x.rs"}, {"line_start", 7}, {"line_end", 7}}}}}}},
      {"rendered", "error: x\n    --> k_00.rs:1007:1\n     |\n1007 | y\n\n"}};
  const auto out = nlohmann::json::parse(remap(in.dump() + "\n"));
  EXPECT_EQ(out["spans"][0]["file_name"], "/src/b.rs");
  EXPECT_EQ(out["spans"][0]["line_start"], 2);
  EXPECT_EQ(out["spans"][0]["line_end"], 3);
  EXPECT_EQ(out["children"][0]["spans"][0]["line_start"], 7);
  EXPECT_EQ(out["rendered"], "error: x\n --> /src/b.rs:2:1\n  |\n2 | y\n\n");
  EXPECT_EQ(remap("{\"broken\n"), "{\"broken\n");
}

}  // namespace
}  // namespace teeny::tool
