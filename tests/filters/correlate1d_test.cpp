#include "tests/filters/window_oracle.h"

namespace imgpipe::test {
namespace {

TEST(Correlate1d, IsTheWeightedSumAlongAnAxis) {
  expect_linear("correlate1d", "kernel: [1, -2.5, 3]", false, {{-1, 0, 0, 1}, {0, 0, 0, -2.5}, {1, 0, 0, 3}});
  expect_linear("correlate1d", "kernel: [0.25, 0.5, 2, -1], axis: y, origin: 1", false,
                {{0, -3, 0, 0.25}, {0, -2, 0, 0.5}, {0, -1, 0, 2}, {0, 0, 0, -1}});
  expect_linear("correlate1d", "kernel: [3, 1], axis: z", true, {{0, 0, -1, 3}, {0, 0, 0, 1}});
}

TEST(Correlate1d, WindowLongerThanTheImageAndALongOne) {
  std::vector<Tap> taps;
  std::string kernel;
  for (int k = 0; k < 70; ++k) {
    taps.push_back({k - 35, 0, 0, 1.0 + k % 5});
    kernel += (k ? ", " : "") + std::to_string(1 + k % 5);
  }
  expect_linear("correlate1d", "kernel: [" + kernel + "]", false, taps);
}

// FS1: borders by picture.
TEST(Correlate1d, BordersAreWhatTheirPicturesShow) {
  const Image ramp = image_of<float>(5, 1, {1, 2, 3, 4, 5});
  const std::vector<std::pair<std::string, double>> first = {
      {"reflect", 9}, {"reflect101", 11}, {"replicate", 8}, {"wrap", 15}, {"constant", 6}};
  for (const auto& [border, value] : first)
    EXPECT_EQ(sample(run("- correlate1d: {kernel: [1, 1, 1, 1, 1], border: " + border + "}", ramp), 0, 0), value)
        << border;
}

// FS11: correlation, not convolution.
TEST(Correlate1d, DoesNotFlipTheKernel) {
  const Image impulse = image_of<float>(7, 1, {0, 0, 0, 8, 0, 0, 0});
  EXPECT_EQ(samples(run("- correlate1d: [1, 2, 3]", impulse)), (std::vector<double>{0, 0, 24, 16, 8, 0, 0}));
}

TEST(Correlate1d, NanAndInfinityReachOnlyTheirWindows) {
  const std::vector<double> out =
      samples(run("- correlate1d: [1, 1, 1]", image_of<float>(7, 1, {1, nan, 1, 1, 1, inf, 1})));
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]) && std::isnan(out[2]));
  EXPECT_EQ(out[3], 3);
  EXPECT_EQ(out[5], inf);
}

TEST(Correlate1d, RefusesWhatItCannotDo) {
  const Image image = image_of<float>(3, 1, {1, 2, 3});
  EXPECT_NE(error_of("- correlate1d: {kernel: [1, 2], axis: z}", image).find("volume"), std::string::npos);
  EXPECT_NE(error_of("- correlate1d: {kernel: [1, 2, 3], origin: 2}", image).find("origin"), std::string::npos);
  EXPECT_NE(error_of("- correlate1d: {kernel: []}", image).find("kernel"), std::string::npos);
  EXPECT_NE(error_of("- correlate1d", image).find("kernel"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test
