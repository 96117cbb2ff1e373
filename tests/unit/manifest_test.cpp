#include "manifest.h"

#include <gtest/gtest.h>

namespace teeny::tool {
namespace {

Manifest example() {
  Manifest manifest;
  manifest.function = "add";
  manifest.id = "add__f32";
  manifest.arch = "sm_90";
  manifest.ptx_version = 82;
  manifest.fields = {{"format", "1"}, {"option", "a b"}, {"option", ""}};
  manifest.members = {{"o", digest_of("ptx")}, {"rs", digest_of("fn")}};
  manifest.diagnostics = "warning: ä \x1b[0m\n";
  manifest.compile_seconds = 0.25;
  return manifest;
}

TEST(Manifest, ReadsWhatItWrote) {
  EXPECT_EQ(read_manifest(write_manifest(example())), example());
  Manifest unset = example();
  unset.ptx_version.reset();
  unset.arch.clear();
  EXPECT_EQ(read_manifest(write_manifest(unset)), unset);
}

TEST(Manifest, AnyChangedByteIsSeen) {
  const std::string text = write_manifest(example());
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char flip : {'\x01', '\x20', '\x80'}) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      EXPECT_EQ(read_manifest(changed), std::nullopt) << i;
    }
    EXPECT_EQ(read_manifest(text.substr(0, i)), std::nullopt) << i;
  }
  EXPECT_EQ(read_manifest(text + "\n"), std::nullopt);
  EXPECT_EQ(read_manifest(std::string(text.size(), '\0')), std::nullopt);
}

TEST(Manifest, BytesThatAreNoUtf8DoNotHinderIt) {
  Manifest manifest = example();
  manifest.diagnostics = "\xff\xfe";
  EXPECT_TRUE(read_manifest(write_manifest(manifest)).has_value());
}

}  // namespace
}  // namespace teeny::tool
