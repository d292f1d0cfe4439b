#include <opencv2/imgproc.hpp>

#include "tests/filters/window_oracle.h"

namespace imgpipe::test {
namespace {

/// Taps of a kernel of this size whose weights are given row by row; the anchor is size / 2.
std::vector<Tap> taps_of(std::array<int, 3> size, const std::vector<double>& weights) {
  std::array<int, 3> low, high;
  for (int a = 0; a < 3; ++a) {
    low[a] = size[a] / 2;
    high[a] = size[a] - 1 - size[a] / 2;
  }
  std::vector<Tap> taps = box_taps(low, high);
  for (std::size_t k = 0; k < taps.size(); ++k) taps[k].weight = weights[k];
  return taps;
}

TEST(Convolve, IsTheWeightedSum) {
  expect_linear("convolve", "kernel: [[1, 2, 3], [4, 5, 6], [7, 8, 9]]", false,
                taps_of({3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  expect_linear("convolve", "kernel: [[0.5, -1], [0, 2], [3, 0.25], [1, 1]]", false,
                taps_of({2, 4, 1}, {0.5, -1, 0, 2, 3, 0.25, 1, 1}));
  expect_linear("convolve", "kernel: [1, 0, -1]", false, taps_of({3, 1, 1}, {1, 0, -1}));
  expect_linear("convolve", "kernel: [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 0], [0, 1]]]", true,
                taps_of({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 1}));
  expect_linear("convolve", "kernel: [[[1, 2, 3]], [[-4, 0, 0.5]]]", true, taps_of({3, 1, 2}, {1, 2, 3, -4, 0, 0.5}));
  expect_linear("convolve", "kernel: [[1, 1], [1, 5]], normalize: true", false,
                taps_of({2, 2, 1}, {.125, .125, .125, .625}));
}

// FS11
TEST(Convolve, DoesNotFlipTheKernel) {
  const Image row = image_of<float>(7, 1, {0, 0, 0, 8, 0, 0, 0});
  EXPECT_EQ(samples(run("- convolve: [1, 2, 3]", row)), (std::vector<double>{0, 0, 24, 16, 8, 0, 0}));
  std::vector<double> v(25, 0);
  v[12] = 1;
  const Image out = run("- convolve: [[1, 2, 3], [4, 5, 6], [7, 8, 9]]", image_of<float>(5, 5, v));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x) EXPECT_EQ(sample(out, 1 + x, 1 + y), 9 - (3 * y + x));
}

TEST(Convolve, AgreesWithOpenCv) {
  const Image in = random_image(make_desc(DType::f32, {41, 23}), 8);
  cv::Mat source(23, 41, CV_32F, const_cast<float*>(in.samples<float>())), expected;
  const cv::Mat kernel = (cv::Mat_<float>(3, 5) << 1, -2, 3, 0, 1, 0.5, 4, -1, 2, 2, 1, 1, 0, -3, 0.25);
  cv::filter2D(source, expected, CV_32F, kernel);
  const Image out = run("- convolve: [[1, -2, 3, 0, 1], [0.5, 4, -1, 2, 2], [1, 1, 0, -3, 0.25]]", in);
  for (int y = 0; y < 23; ++y)
    for (int x = 0; x < 41; ++x) ASSERT_NEAR(sample(out, x, y), expected.at<float>(y, x), 2e-5);
}

TEST(Convolve, AZeroWeightStillMeetsNan) {
  EXPECT_TRUE(std::isnan(sample(run("- convolve: [0, 1, 0]", image_of<float>(3, 1, {nan, 1, 2})), 1, 0)));
}

TEST(Convolve, RefusesWhatItCannotDo) {
  const Image image = image_of<float>(2, 2, {1, 2, 3, 4});
  EXPECT_NE(error_of("- convolve: [[[1]], [[2]]]", image).find("volume"), std::string::npos);
  EXPECT_NE(error_of("- convolve: {kernel: [1, -1], normalize: true}", image).find("sum"), std::string::npos);
  EXPECT_NE(error_of("- convolve", image).find("kernel"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test
