#include "rust_lexer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "error.h"

namespace teeny::tool {
namespace {

using Texts = std::vector<std::string>;

Texts texts_of(std::string_view source) {
  Texts texts;
  for (const RustToken& token : tokenize_rust("k.rs", source)) texts.emplace_back(token.text);
  EXPECT_EQ(texts.back(), "");
  texts.pop_back();
  return texts;
}

RustToken only_token(std::string_view source) {
  const std::vector<RustToken> tokens = tokenize_rust("k.rs", source);
  EXPECT_EQ(tokens.size(), 2U) << source;
  return tokens.front();
}

std::string error_of(std::string_view source) {
  try {
    static_cast<void>(tokenize_rust("dir/k.rs", source));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kernel);
    return error.what();
  }
  return "no error";
}

TEST(RustLexer, EmptyTextIsOneEndToken) {
  const auto tokens = tokenize_rust("k.rs", "");
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens[0].kind, RustTokenKind::end);
  EXPECT_EQ(tokens[0].line, 1U);
  EXPECT_EQ(tokens[0].column, 1U);
}

TEST(RustLexer, JoinsOnlyPathAndArrowPunctuation) {
  EXPECT_EQ(texts_of("a::b->c=>d>>=<-:::"),
            (Texts{"a", "::", "b", "->", "c", "=>", "d", ">", ">", "=", "<", "-", "::", ":"}));
}

TEST(RustLexer, CommentsAreNoTokens) {
  EXPECT_EQ(texts_of("a // b\n/// c\n//! d\nb /* e */ c /** f */ /*! g */ d /**/ e //"),
            (Texts{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(texts_of("a /* 1 /* 2 /* 3 */ */ /* */ \" */ b"), (Texts{"a", "b"}));
  EXPECT_EQ(texts_of("a /*/ b */ c"), (Texts{"a", "c"}));
}

TEST(RustLexer, StringsHideWhatTheyHold) {
  for (const std::string_view literal :
       {R"("a \" // b")", R"("\\")", "\"two\nlines\"", R"(b"x\"")", R"(c"x")", "r\"\\\"",
        "r#\"a \" b\"#", "r##\"a \"# b\"##", "br#\"\"\"#", "cr#\"x\"#", "\"\""}) {
    const RustToken token = only_token(literal);
    EXPECT_EQ(token.kind, RustTokenKind::string) << literal;
    EXPECT_EQ(token.text, literal);
  }
}

TEST(RustLexer, CharactersAndLifetimesDiffer) {
  for (const std::string_view literal : {"'a'", "'\\''", "'\\\\'", "'\"'", "'/'", "'\\u{1F600}'",
                                         "'é'", "'😀'", "b'x'", "b'\\''", "'('", "' '", "'''"}) {
    EXPECT_EQ(only_token(literal).kind, RustTokenKind::character) << literal;
    EXPECT_EQ(only_token(literal).text, literal);
  }
  for (const std::string_view lifetime : {"'a", "'static", "'_", "'r#a", "'é"}) {
    EXPECT_EQ(only_token(lifetime).kind, RustTokenKind::lifetime) << lifetime;
  }
  EXPECT_EQ(texts_of("&'a str, 'b'"), (Texts{"&", "'a", "str", ",", "'b'"}));
  EXPECT_EQ(texts_of("'a: loop { break 'a; }"),
            (Texts{"'a", ":", "loop", "{", "break", "'a", ";", "}"}));
}

TEST(RustLexer, RawIdentifiersAreNoKeywords) {
  const RustToken token = only_token("r#fn");
  EXPECT_EQ(token.kind, RustTokenKind::identifier);
  EXPECT_EQ(token.text, "r#fn");
  EXPECT_EQ(token.plain_name(), "fn");
  EXPECT_FALSE(token.is("fn"));
  EXPECT_TRUE(only_token("fn").is("fn"));
  EXPECT_FALSE(only_token("\"fn\"").is("\"fn\""));
  EXPECT_EQ(texts_of("r # x"), (Texts{"r", "#", "x"}));
  EXPECT_EQ(texts_of("r##x"), (Texts{"r", "#", "#", "x"}));
}

TEST(RustLexer, NumbersWithSuffixesFloatsAndRanges) {
  for (const std::string_view number :
       {"0", "1_000", "0xFF_u8", "0o17", "0b1010_0101i8", "1.", "1.5", "1.5e-3f32", "2e10", "2E+7",
        "1f64", "12usize", "1e", "0x1e", "3.14_f32"}) {
    EXPECT_EQ(only_token(number).kind, RustTokenKind::number) << number;
  }
  EXPECT_EQ(texts_of("1..2"), (Texts{"1", ".", ".", "2"}));
  EXPECT_EQ(texts_of("1.max(2)"), (Texts{"1", ".", "max", "(", "2", ")"}));
  EXPECT_EQ(texts_of("-1"), (Texts{"-", "1"}));
  EXPECT_EQ(texts_of("0x1e+3"), (Texts{"0x1e", "+", "3"}));
  EXPECT_EQ(texts_of("1e+x"), (Texts{"1e", "+", "x"}));
}

TEST(RustLexer, LinesAndColumnsAreThoseOfRustc) {
  const auto tokens = tokenize_rust("k.rs", "a\r\n\té😀 b\n\n\"x\ny\" c");
  ASSERT_EQ(tokens.size(), 6U);
  const std::vector<std::pair<std::size_t, std::size_t>> wanted = {{1, 1}, {2, 2}, {2, 5},
                                                                   {4, 1}, {5, 4}, {5, 5}};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i].line, wanted[i].first) << i;
    EXPECT_EQ(tokens[i].column, wanted[i].second) << i;
  }
  EXPECT_EQ(tokens[1].offset, 4U);
  EXPECT_EQ(tokens[1].end_offset(), 10U);
}

TEST(RustLexer, ByteOrderMarkAndSheBangBelongToTheFile) {
  const auto marked = tokenize_rust("k.rs",
                                    "\xEF\xBB\xBF"
                                    "fn");
  EXPECT_EQ(marked[0].text, "fn");
  EXPECT_EQ(marked[0].column, 1U);
  const auto script = tokenize_rust("k.rs", "#!/usr/bin/env run\nfn");
  EXPECT_EQ(script[0].text, "fn");
  EXPECT_EQ(script[0].line, 2U);
  EXPECT_EQ(texts_of("#![no_std]"), (Texts{"#", "!", "[", "no_std", "]"}));
  EXPECT_EQ(texts_of("#! /* c */ // d\n [no_std]"), (Texts{"#", "!", "[", "no_std", "]"}));
  EXPECT_EQ(rust_preamble_size("\xEF\xBB\xBF#!x\r\ny"), 7U);
  EXPECT_EQ(rust_preamble_size("#!"), 2U);
}

TEST(RustLexer, WideWhiteSpaceSeparates) {
  EXPECT_EQ(texts_of("a\u2028b\u00A0"), (Texts{"a", "b\u00A0"}));
  EXPECT_EQ(texts_of("fn\u200Ex\u0085y"), (Texts{"fn", "x", "y"}));
}

TEST(RustLexer, OddBytesAreTokens) {
  static constexpr char k_odd[] = "\0\\\x01 \xFF\xFE \x80\x80 `~@?$";
  const std::string_view odd(k_odd, sizeof k_odd - 1);
  EXPECT_FALSE(texts_of(odd).empty());
  EXPECT_EQ(texts_of(std::string_view("a\0b", 3)).size(), 3U);
}

TEST(RustLexer, NeverClosedIsAnErrorWhereItBegins) {
  EXPECT_EQ(error_of("a\n  /* b /* */"), "dir/k.rs:2:3: expected `*/` to close this block comment");
  EXPECT_EQ(error_of("/*/"), "dir/k.rs:1:1: expected `*/` to close this block comment");
  EXPECT_EQ(error_of("é \"a\\\""), "dir/k.rs:1:3: expected `\"` to close this string");
  EXPECT_EQ(error_of("b\"\\"), "dir/k.rs:1:1: expected `\"` to close this string");
  EXPECT_EQ(error_of("\n r##\"a\"#"), "dir/k.rs:2:2: expected `\"##` to close this raw string");
  EXPECT_EQ(error_of("x '(\n'"), "dir/k.rs:1:3: expected `'` to close this character");
  EXPECT_EQ(error_of("'"), "dir/k.rs:1:1: expected `'` to close this character");
  EXPECT_EQ(error_of("b'"), "dir/k.rs:1:1: expected `'` to close this character");
}

// A lexer that looked ahead without bound would need minutes for each of these.
TEST(RustLexer, LongInputIsReadInLinearTime) {
  constexpr std::size_t k_repeats = 200'000;
  for (const std::string_view piece : {"r#", "/*", "\"#", "r##\"", "'a", "1.", "#!", "\xC2\x85"}) {
    std::string text;
    for (std::size_t i = 0; i < k_repeats; ++i) text += piece;
    static_cast<void>(error_of(text));
    EXPECT_EQ(error_of("r#######\"" + text),
              "dir/k.rs:1:1: expected `\"#######` to close this raw string");
  }
}

}  // namespace
}  // namespace teeny::tool
