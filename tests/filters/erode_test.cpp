#include <opencv2/imgproc.hpp>

#include "tests/filters/morphology_oracle.h"

namespace imgpipe::test {
namespace {

TEST(Erode, IsTheExtremeOfTheWindow) {
  expect_morphology("erode", [](const Channel& in, const std::vector<Tap>& taps, bool neutral) {
    return extreme_of(in, taps, false, neutral);
  });
}

TEST(Erode, AgreesWithOpenCv) {
  const Image in = random_image(make_desc(DType::u16, {67, 45}), 11);
  cv::Mat source(45, 67, CV_16U, const_cast<std::uint16_t*>(in.samples<std::uint16_t>())), expected;
  for (int radius : {1, 2, 7, 20}) {
    cv::erode(source, expected, cv::Mat::ones(2 * radius + 1, 2 * radius + 1, CV_8U));
    const Image out = run("- erode: " + std::to_string(radius), in);
    for (int y = 0; y < 45; ++y)
      for (int x = 0; x < 67; ++x) ASSERT_EQ(sample(out, x, y), expected.at<std::uint16_t>(y, x)) << radius;
  }
}

TEST(Erode, ConstantStaysConstant) { expect_constant_unchanged("erode"); }

TEST(Erode, NanFillsItsWindows) {
  for (const char* parameters : {"{radius: [2, 0]}", "{radius: [2, 0], footprint: ball}"}) {
    const std::vector<double> out =
        samples(run(std::string("- erode: ") + parameters, image_of<float>(9, 1, {1, 1, 1, 1, nan, 1, 1, 1, 1})));
    for (int x = 0; x < 9; ++x) EXPECT_EQ(std::isnan(out[x]), std::abs(x - 4) <= 2) << x;
  }
}

TEST(Erode, RefusesSizeZero) {
  EXPECT_NE(error_of("- erode: {size: 0}", image_of<float>(1, 1, {1})).find("size"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test
