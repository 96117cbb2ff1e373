// The public header, with images made by hand.
#include <gtest/gtest.h>

#include <teeny/kernel.hpp>

namespace {

constexpr teeny::detail::ImageData image(std::uint16_t capability, char suffix) {
  return {"ptx", 3, "00", "k", 0, suffix, capability, 78, 4, 1, 0, 0, {0, 0, 0}, 0, 1, 0, 1};
}

template <std::size_t N>
std::string pick(const teeny::detail::ImageData (&data)[N], teeny::Capability device) {
  std::vector<teeny::Image> images;
  for (const auto& each : data) images.emplace_back(each);
  const teeny::Kernel kernel("k", {images.data(), images.size()});
  const teeny::Image* best = kernel.image_for(device);
  return best == nullptr ? "none" : best->architecture();
}

TEST(Kernel, ImageForExactMatchFirst) {
  const teeny::detail::ImageData data[] = {image(80, '\0'), image(90, '\0'), image(90, 'a')};
  EXPECT_EQ(pick(data, {9, 0}), "sm_90a");
  EXPECT_EQ(pick(data, {8, 0}), "sm_80");
}

TEST(Kernel, ImageForNewestPlainOneNotAbove) {
  const teeny::detail::ImageData data[] = {image(80, '\0'), image(89, '\0'), image(90, 'a'),
                                           image(120, '\0')};
  EXPECT_EQ(pick(data, {8, 6}), "sm_80");
  EXPECT_EQ(pick(data, {8, 9}), "sm_89");
  EXPECT_EQ(pick(data, {10, 0}), "sm_89");
  EXPECT_EQ(pick(data, {12, 1}), "sm_120");
  EXPECT_EQ(pick(data, {7, 5}), "none");
}

TEST(Kernel, ImageForFamily) {
  const teeny::detail::ImageData data[] = {image(80, '\0'), image(100, 'f'), image(101, '\0')};
  EXPECT_EQ(pick(data, {10, 0}), "sm_100f");
  EXPECT_EQ(pick(data, {10, 3}), "sm_100f");
  EXPECT_EQ(pick(data, {12, 0}), "sm_101");
  const teeny::detail::ImageData exact[] = {image(100, 'f'), image(103, '\0'), image(103, 'a')};
  EXPECT_EQ(pick(exact, {10, 3}), "sm_103a");
  EXPECT_EQ(pick(exact, {10, 4}), "sm_100f");
}

TEST(Kernel, WhyNoImage) {
  const teeny::detail::ImageData data = image(90, 'a');
  const teeny::Image images[] = {teeny::Image(data)};
  const teeny::Kernel kernel("saxpy", {images, 1});
  const std::string text = kernel.why_no_image_for({8, 6});
  for (const char* const part : {"saxpy", "8.6", "sm_90a", "86", "ARCHITECTURES"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(Kernel, FindAmongSorted) {
  static constexpr teeny::detail::ImageData data = image(90, '\0');
  static constexpr teeny::Image images[] = {teeny::Image(data)};
  static constexpr teeny::Kernel kernels[] = {
      {"a", {images, 1}}, {"ab", {images, 1}}, {"b", {images, 1}}};
  constexpr teeny::List<teeny::Kernel> all{kernels, 3};
  static_assert(teeny::detail::find_kernel(all, "ab")->name() == "ab");
  for (const char* const name : {"a", "ab", "b"}) {
    EXPECT_EQ(teeny::detail::find_kernel(all, name)->name(), name);
  }
  for (const char* const name : {"", "aa", "c", "A"}) {
    EXPECT_EQ(teeny::detail::find_kernel(all, name), nullptr) << name;
  }
}

}  // namespace
