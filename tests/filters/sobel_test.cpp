#include <opencv2/imgproc.hpp>

#include "tests/filters/window_oracle.h"

namespace imgpipe::test {
namespace {

std::vector<Tap> derivative(int axis, bool volume) {
  std::vector<Tap> taps = box_taps({1, 1, volume}, {1, 1, volume});
  for (Tap& t : taps) {
    const int offset[3] = {t.x, t.y, t.z};
    for (int a = 0; a < (volume ? 3 : 2); ++a) t.weight *= a == axis ? offset[a] : 2 - std::abs(offset[a]);
  }
  return taps;
}

void expect_sobel(const std::string& axis, bool volume) {
  for_images(volume, [&](const Image& in, const std::string& border, double constant) {
    const std::string step = step_of("sobel", "axis: " + axis, border, constant);
    const Image out = run(step, in);
    ASSERT_EQ(out.desc().dtype, eps_of(in.desc().dtype) < 1e-10 ? DType::f64 : DType::f32);
    for (int c = 0; c < in.desc().channels - in.desc().alpha; ++c) {
      const Channel channel = channel_of(in, c, border, constant);
      Channel expected = channel;
      std::fill(expected.v.begin(), expected.v.end(), 0);
      for (int a = 0; a < (volume ? 3 : 2); ++a) {
        if (axis != "magnitude" && axis != std::string(1, static_cast<char>('x' + a))) continue;
        const Channel g = weighted_sum(channel, derivative(a, volume));
        for (std::size_t i = 0; i < g.v.size(); ++i)
          expected.v[i] = axis == "magnitude" ? std::hypot(expected.v[i], g.v[i]) : g.v[i];
      }
      // 8- and 16-bit derivatives are exact; a magnitude is rounded a few times.
      const double tolerance = eps_of(in.desc().dtype) * 100 * (largest(channel) + constant);
      expect_channel(out, c, expected, tolerance, name_of(step, in));
    }
  });
}

TEST(Sobel, IsTheSmoothedDerivative) {
  for (const char* axis : {"magnitude", "x", "y"}) expect_sobel(axis, false);
  for (const char* axis : {"magnitude", "x", "y", "z"}) expect_sobel(axis, true);
}

// DT3: signed, and wide enough.
TEST(Sobel, AStepOf255Gives1020WithItsSign) {
  std::vector<double> up, down;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      up.push_back(x < 4 ? 0 : 255);
      down.push_back(x < 4 ? 255 : 0);
    }
  const Image rising = run("- sobel: x", image_of<std::uint8_t>(8, 8, up));
  const Image falling = run("- sobel: x", image_of<std::uint8_t>(8, 8, down));
  EXPECT_EQ(rising.desc().dtype, DType::f32);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      EXPECT_EQ(sample(rising, x, y), x == 3 || x == 4 ? 1020 : 0);
      EXPECT_EQ(sample(falling, x, y), x == 3 || x == 4 ? -1020 : 0);
    }
  const Image magnitude = run("- sobel", image_of<std::uint8_t>(8, 8, down));
  EXPECT_EQ(sample(magnitude, 3, 4), 1020);
}

TEST(Sobel, SaturatesOnlyWhenAskedForUint8) {
  const Image in = image_of<std::uint8_t>(4, 1, {0, 0, 255, 255});
  EXPECT_EQ(samples(run("- sobel: x\n- convert: uint8", in)), (std::vector<double>{0, 255, 255, 0}));
}

TEST(Sobel, AgreesWithOpenCv) {
  const Image in = random_image(make_desc(DType::u16, {37, 29}), 8);
  cv::Mat source(29, 37, CV_16U, const_cast<std::uint16_t*>(in.samples<std::uint16_t>())), gx, gy;
  cv::Sobel(source, gx, CV_32F, 1, 0);
  cv::Sobel(source, gy, CV_32F, 0, 1);
  const Image x = run("- sobel: x", in), y = run("- sobel: y", in);
  for (int r = 0; r < 29; ++r)
    for (int c = 0; c < 37; ++c) {
      ASSERT_EQ(sample(x, c, r), gx.at<float>(r, c));
      ASSERT_EQ(sample(y, c, r), gy.at<float>(r, c));
    }
}

TEST(Sobel, RefusesZOnImages) {
  EXPECT_NE(error_of("- sobel: z", image_of<float>(2, 1, {1, 2})).find("volume"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test
