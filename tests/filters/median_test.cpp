#include <opencv2/imgproc.hpp>

#include "tests/filters/window_oracle.h"

namespace imgpipe::test {
namespace {

double middle(std::vector<double>& values) {
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) return nan;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void expect_median(const std::string& parameters, bool volume, const std::vector<Tap>& taps) {
  for_images(volume, [&](const Image& in, const std::string& border, double constant) {
    const std::string step = step_of("median", parameters, border, constant);
    const Image out = run(step, in);
    ASSERT_EQ(out.desc().dtype, in.desc().dtype);
    for (int c = 0; c < in.desc().channels; ++c) {
      const Channel channel = channel_of(in, c, border, constant);
      const bool alpha = in.desc().alpha && c == in.desc().channels - 1;
      expect_channel(out, c, alpha ? channel : over_windows(channel, taps, middle), -0.5 * !is_float(in.desc().dtype),
                     name_of(step, in));
    }
  });
}

std::vector<Tap> ball(int r, bool volume) {
  std::vector<Tap> taps;
  for (const Tap& t : box_taps({r, r, volume ? r : 0}, {r, r, volume ? r : 0}))
    if (t.x * t.x + t.y * t.y + t.z * t.z <= r * r) taps.push_back(t);
  return taps;
}

TEST(Median, IsTheMiddleValueOfImages) {
  expect_median("", false, box_taps({1, 1, 0}, {1, 1, 0}));
  expect_median("radius: 2", false, box_taps({2, 2, 0}, {2, 2, 0}));
  expect_median("radius: [1, 0]", false, box_taps({1, 0, 0}, {1, 0, 0}));
  expect_median("size: [5, 3]", false, box_taps({2, 1, 0}, {2, 1, 0}));
  expect_median("radius: 4", false, box_taps({4, 4, 0}, {4, 4, 0}));
  expect_median("radius: 6, footprint: ball", false, ball(6, false));
  expect_median("radius: 2, footprint: ball", false, ball(2, false));
}

TEST(Median, IsTheMiddleValueOfVolumes) {
  expect_median("", true, box_taps({1, 1, 1}, {1, 1, 1}));
  expect_median("radius: [0, 1, 2]", true, box_taps({0, 1, 2}, {0, 1, 2}));
  expect_median("radius: 2", true, box_taps({2, 2, 2}, {2, 2, 2}));
  expect_median("radius: 1, footprint: ball", true, ball(1, true));
}

template <class T>
void expect_opencv(int type, int radius) {
  const Image in = random_image(make_desc(dtype_of<T>(), {67, 45}), 11);
  cv::Mat source(45, 67, type, const_cast<T*>(in.samples<T>())), expected;
  cv::medianBlur(source, expected, 2 * radius + 1);
  const Image out = run("- median: {radius: " + std::to_string(radius) + ", border: replicate}", in);
  for (int y = 0; y < 45; ++y)
    for (int x = 0; x < 67; ++x) ASSERT_EQ(sample(out, x, y), expected.at<T>(y, x)) << radius << " " << x << ", " << y;
}

TEST(Median, AgreesWithOpenCv) {
  for (int radius : {1, 2, 3, 5, 10}) expect_opencv<std::uint8_t>(CV_8U, radius);
  for (int radius : {1, 2}) {
    expect_opencv<std::uint16_t>(CV_16U, radius);
    expect_opencv<float>(CV_32F, radius);
  }
}

// FS9: NaN wins, everywhere alike.
TEST(Median, NanFillsItsWindows) {
  const Image in = image_of<float>(11, 1, {nan, 2, 3, 4, 10, 6, 7, nan, 9, 10, 11});
  const std::vector<double> out = samples(run("- median: {size: [5, 1], border: reflect}", in));
  const std::vector<double> expected{nan, nan, nan, 4, 6, nan, nan, nan, nan, nan, 10};
  for (int x = 0; x < 11; ++x)
    EXPECT_TRUE(out[x] == expected[x] || (std::isnan(out[x]) && std::isnan(expected[x]))) << x << ": " << out[x];
  for (int radius : {1, 2, 5}) {
    std::vector<double> v(31 * 31, 0.25);
    v[15 * 31 + 15] = nan;
    const Image image = run("- median: " + std::to_string(radius), image_of<float>(31, 31, v));
    for (int y = 0; y < 31; ++y)
      for (int x = 0; x < 31; ++x)
        ASSERT_EQ(std::isnan(sample(image, x, y)), std::max(std::abs(x - 15), std::abs(y - 15)) <= radius);
  }
}

TEST(Median, InfinitiesAreOrdered) {
  EXPECT_EQ(samples(run("- median: {size: [3, 1]}", image_of<float>(5, 1, {1, inf, inf, -inf, 2}))),
            (std::vector<double>{inf, inf, inf, 2, -inf}));
}

// FS10
TEST(Median, RefusesEvenSizes) {
  const std::string error = error_of("- median: {size: 4}", image_of<float>(1, 1, {1}));
  EXPECT_NE(error.find("odd"), std::string::npos) << error;
  EXPECT_NE(error.find("3 or 5"), std::string::npos) << error;
}

// FS3
TEST(Median, ConstantStaysConstantOnTinyImages) {
  for (int w : {1, 2, 3, 5})
    for (int h : {1, 2, 3, 5})
      for (int radius = 1; radius <= 7; ++radius) {
        const Image in = image_of<std::uint8_t>(w, h, std::vector<double>(w * h, 128));
        EXPECT_EQ(difference(in, run("- median: " + std::to_string(radius), in)), "");
      }
}

}  // namespace
}  // namespace imgpipe::test
