#include "tests/filters/window_oracle.h"

namespace imgpipe::test {
namespace {

double mean(std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

void expect_mean(const std::string& parameters, bool volume, std::array<int, 3> low, std::array<int, 3> high) {
  const std::vector<Tap> taps = box_taps(low, high);
  for_images(volume, [&](const Image& in, const std::string& border, double constant) {
    if (in.desc().alpha) return;
    const std::string step = step_of("box", parameters, border, constant);
    const Image out = run(step, in);
    for (int c = 0; c < in.desc().channels; ++c) {
      const Channel channel = channel_of(in, c, border, constant);
      // Sums in double, one rounding a tap, then one to the dtype.
      const double eps = eps_of(in.desc().dtype) + 2.3e-16 * static_cast<double>(taps.size());
      expect_channel(out, c, over_windows(channel, taps, mean), eps * (largest(channel) + constant), name_of(step, in));
    }
  });
}

TEST(Box, IsTheMean) {
  expect_mean("radius: 1", false, {1, 1, 0}, {1, 1, 0});
  expect_mean("radius: [0, 4]", false, {0, 4, 0}, {0, 4, 0});
  expect_mean("size: 4", false, {2, 2, 0}, {1, 1, 0});
  expect_mean("size: [5, 2]", false, {2, 1, 0}, {2, 0, 0});
  expect_mean("", true, {1, 1, 1}, {1, 1, 1});
  expect_mean("size: [1, 2, 3]", true, {0, 1, 1}, {0, 0, 1});
}

// FS3
TEST(Box, ConstantStaysConstantOnTinyImages) {
  for (int w : {1, 2, 3, 5})
    for (int h : {1, 2, 3, 5})
      for (int radius = 1; radius <= 7; ++radius)
        for (const char* border : {"reflect101", "reflect", "replicate", "wrap"}) {
          const Image u8 = image_of<std::uint8_t>(w, h, std::vector<double>(w * h, 128));
          const Image f64 = image_of<double>(w, h, std::vector<double>(w * h, 0.1));
          const std::string step =
              "- box: {radius: " + std::to_string(radius) + ", border: " + std::string(border) + "}";
          EXPECT_EQ(difference(u8, run(step, u8)), "");
          for (double v : samples(run(step, f64))) EXPECT_NEAR(v, 0.1, 3e-16 * radius);
        }
}

// FS10: even windows are [i - k/2, i + k/2 - 1].
TEST(Box, EvenSizesReachFurtherDown) {
  const Image impulse = image_of<float>(7, 1, {0, 0, 0, 8, 0, 0, 0});
  EXPECT_EQ(samples(run("- box: {size: [4, 1]}", impulse)), (std::vector<double>{0, 0, 2, 2, 2, 2, 0}));
}

// FS15: no drift, nothing below the least or above the greatest value.
TEST(Box, DoesNotDrift) {
  std::vector<double> small(64, 1e-8), spike(64, 1);
  small[20] = 1;
  spike[20] = 1e8;
  for (const auto& v : {small, spike}) {
    const Image in = image_of<float>(64, 1, v);
    const auto [low, high] = std::minmax_element(v.begin(), v.end());
    const std::vector<double> out = samples(run("- box: {radius: [3, 0]}", in));
    for (int x = 0; x < 64; ++x) {
      EXPECT_GE(out[x], static_cast<float>(*low) * (1 - 1.2e-7));
      EXPECT_LE(out[x], *high);
      if (std::abs(x - 20) > 3) {
        EXPECT_EQ(out[x], static_cast<float>(v[0])) << x;
      }
    }
  }
}

// DT5: halves round to even, in u8 as in u16.
TEST(Box, HalvesRoundToEvenInEveryDtype) {
  const std::vector<double> v{0, 1, 2, 3};
  const std::vector<double> u8 = samples(run("- box: {size: 2, border: replicate}", image_of<std::uint8_t>(2, 2, v)));
  const std::vector<double> u16 = samples(run("- box: {size: 2, border: replicate}", image_of<std::uint16_t>(2, 2, v)));
  // Windows hold 0 | 0 1 | 0 2 | 0 1 2 3: means 0, 0.5, 1, 1.5.
  EXPECT_EQ(u8, (std::vector<double>{0, 0, 1, 2}));
  EXPECT_EQ(u16, u8);
}

TEST(Box, NanAndInfinityStayInTheirWindows) {
  const std::vector<double> out =
      samples(run("- box: {radius: [1, 0]}", image_of<float>(9, 1, {1, nan, 1, 1, 1, inf, 1, 1, 1})));
  for (int x = 0; x < 9; ++x) {
    EXPECT_EQ(std::isnan(out[x]), x <= 2) << x;
    if (x > 2) {
      EXPECT_EQ(out[x], x >= 4 && x <= 6 ? inf : 1) << x;
    }
  }
}

TEST(Box, WeightsColourByAlpha) {
  const Image in = image_of<float>(3, 1, {1, 0, 0, 1, 9, 9, 9, 0, 3, 0, 0, 0.5}, 4, true);
  const Image out = run("- box: {radius: [1, 0], border: constant}", in);
  EXPECT_NEAR(sample(out, 0, 0, 0, 0), 1, 1e-6);
  EXPECT_NEAR(sample(out, 1, 0, 0, 0), (1 * 1 + 3 * 0.5) / 1.5, 1e-6);
  EXPECT_NEAR(sample(out, 2, 0, 0, 0), 3, 1e-6);
  for (int x = 0; x < 3; ++x) EXPECT_EQ(sample(out, x, 0, 0, 3), sample(in, x, 0, 0, 3));
  const Image clear = run("- box", image_of<std::uint8_t>(1, 1, {7, 8, 9, 0}, 4, true));
  EXPECT_EQ(samples(clear), (std::vector<double>{0, 0, 0, 0}));
}

// 41 * 41 * 65535 is more than float32 counts exactly.
TEST(Box, SumsOfManyPixelsAreExact) {
  const Image in = random_image(make_desc(DType::u16, {90, 70}), 3);
  const Image out = run("- box: 20\n- convert: float32", in);
  const Channel mean_of = over_windows(channel_of(in, 0), box_taps({20, 20, 0}, {20, 20, 0}), mean);
  for (int y = 0; y < 70; ++y)
    for (int x = 0; x < 90; ++x) ASSERT_EQ(sample(out, x, y), static_cast<float>(mean_of(x, y, 0))) << x << ", " << y;
}

TEST(Box, OfClearPixelsIsBlack) {
  const Image clear = run("- box", image_of<float>(2, 1, {7, 8, 9, 0, 1, 2, 3, 0}, 4, true));
  EXPECT_EQ(samples(clear), (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Box, RefusesSizeZero) {
  EXPECT_NE(error_of("- box: {size: 0}", image_of<float>(1, 1, {1})).find("size"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test
