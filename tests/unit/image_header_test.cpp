#include "image_header.h"

#include <gtest/gtest.h>

namespace teeny::tool {
namespace {

TEST(ImageHeader, IsPaddedToTheAlignment) {
  EXPECT_EQ(image_header("app", "k", 12).substr(0, 27),
            "\x7fTEENY-IMAGE 1 12 app k\n" + std::string(3, '\0'));
  EXPECT_EQ(image_header("app", "k", 12).size(), 64U);
  EXPECT_EQ(image_header("app", std::string(64, 'k'), 12).size(), 128U);
  // A header that fills its last unit would leave no NUL behind the text.
  EXPECT_EQ(image_header("app", std::string(64 - 23, 'k'), 12).size() % 64, 0U);
}

TEST(ImageHeader, ImagesAreFoundInWhateverSurroundsThem) {
  const std::string file =
      "\x7f"
      "ELF...\x7fTEENY-IMAGE 1 x\n" +
      image_header("app", "a", 3) + "ptx" + std::string(5, '\0') + image_header("lib", "b", 0) +
      image_header("app", "cut", 1000) + "too short";
  const auto images = find_embedded_images(file);
  ASSERT_EQ(images.size(), 2U);
  EXPECT_EQ(images[0].target, "app");
  EXPECT_EQ(images[0].kernel, "a");
  EXPECT_EQ(images[0].bytes, "ptx");
  EXPECT_EQ(images[1].kernel, "b");
  EXPECT_EQ(images[1].bytes, "");
}

TEST(ImageHeader, WhatOnlyLooksLikeOneIsPassedOver) {
  const std::string header = image_header("app", "a", 3);
  for (std::size_t size = 0; size < header.size(); ++size) {
    EXPECT_TRUE(find_embedded_images(header.substr(0, size)).empty()) << size;
  }
  std::string changed = header + "ptx";
  changed[60] = 'x';
  EXPECT_TRUE(find_embedded_images(changed).empty());
  EXPECT_TRUE(find_embedded_images("\x7fTEENY-IMAGE 1 99999999999999999999999 a b\n").empty());
}

}  // namespace
}  // namespace teeny::tool
