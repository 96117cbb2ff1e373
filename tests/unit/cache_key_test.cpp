#include "cache_key.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace teeny::tool {
namespace {

TEST(CacheKey, PublishedKeysOfTheRustRuntime) {
  std::ifstream file(TEENY_TEST_GOLDEN_DIR "/cache_keys.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  int checked = 0;
  for (const auto& key : golden.at("keys")) {
    const auto& version = key.at("ptx_version");
    EXPECT_EQ(
        cache_key(key.at("id").get<std::string>(), key.at("target_cpu").get<std::string>(),
                  version.is_null() ? std::nullopt
                                    : std::optional<std::uint32_t>(version.get<std::uint32_t>())),
        key.at("sha256").get<std::string>())
        << key;
    ++checked;
  }
  EXPECT_EQ(checked, 114);
}

// printf 'vector_add__f32__1024sm_87\x52\x00\x00\x00' | sha256sum: 82 is 0x52.
TEST(CacheKey, PtxVersionIsFourLittleEndianBytes) {
  EXPECT_EQ(cache_key("vector_add__f32__1024", "sm_87", 82),
            "2a61441cdf7b78434669c759ee50ea9d128e5d7cd7653d6a1d0701c1c588da66");
  // 66050 is 0x00010202: all four bytes, lowest first.
  EXPECT_EQ(cache_key("x", "", 66050),
            "690f8cd6767302084572d76a3133e5ee3241d72b1e51843b98d3651cc2f0837d");
}

TEST(CacheKey, UnsetPartsAddNothing) {
  // sha256 of the empty text and of "abc" (FIPS 180-2, appendix B.1).
  EXPECT_EQ(cache_key("", "", std::nullopt),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(cache_key("a", "bc", std::nullopt),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(EntryName, KeepsWhatStandsBehindADot) { EXPECT_EQ(entry_name("a.b", "01"), "a.b_01"); }

std::string id_of(const std::vector<Fingerprint::Field>& fields) {
  Fingerprint fingerprint;
  for (const auto& [name, value] : fields) fingerprint.add(name, value);
  return fingerprint.id();
}

// printf '\x01\0\0\0\0\0\0\0a\x02\0\0\0\0\0\0\0bc' | sha256sum
TEST(Fingerprint, FieldsAreLengthPrefixed) {
  EXPECT_EQ(id_of({{"a", "bc"}}),
            "9a8acca1b6c6c0befd3fbc756aed625da998c998f7252e738c4ef061906b9b21");
}

TEST(Fingerprint, NoTwoListsOfFieldsCollide) {
  const std::vector<std::vector<Fingerprint::Field>> lists = {
      {},
      {{"option", ""}},
      {{"option", ""}, {"option", ""}},
      {{"option", "ab"}, {"option", "c"}},
      {{"option", "a"}, {"option", "bc"}},
      {{"option", "abc"}},
      {{"optiona", "bc"}},
      {{"depend", "ab"}, {"option", "c"}},
      {{"option", std::string("a\0b", 3)}},
      {{"option", std::string("a\0", 2)}, {"option", "b"}},
      {{"option", "a\noption\nb"}},
  };
  std::vector<std::string> ids;
  for (const auto& list : lists) ids.push_back(id_of(list));
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace
}  // namespace teeny::tool
