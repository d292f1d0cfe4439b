#include <fmt/format.h>

#include "tests/filters/window_oracle.h"

namespace imgpipe::test {
namespace {

Channel blurred(const Channel& in, double sigma, bool volume) {
  const int r = static_cast<int>(std::ceil(4 * sigma)), rz = volume ? r : 0;
  std::vector<Tap> taps = box_taps({r, r, rz}, {r, r, rz});
  double sum = 0;
  for (Tap& t : taps) sum += t.weight = std::exp(-0.5 * (t.x * t.x + t.y * t.y + t.z * t.z) / (sigma * sigma));
  for (Tap& t : taps) t.weight /= sum;
  return weighted_sum(in, taps);
}

void expect_sharp(const std::string& parameters, double sigma, double amount, double threshold, bool volume) {
  for_images(volume, [&](const Image& in, const std::string& border, double constant) {
    if (in.desc().alpha) return;
    const std::string step = step_of("unsharp", parameters, border, constant);
    const Image out = run(step, in);
    for (int c = 0; c < in.desc().channels; ++c) {
      const Channel v = channel_of(in, c, border, constant), g = blurred(v, sigma, volume);
      // Roundings of the blur times amount.
      const double tolerance = 60 * eps_of(in.desc().dtype) * (largest(v) + constant) * (1 + std::abs(amount));
      Channel sharp = v;
      for (std::size_t i = 0; i < sharp.v.size(); ++i) {
        const double d = v.v[i] - g.v[i];
        if (std::abs(d) >= threshold) sharp.v[i] = v.v[i] + amount * d;
        // Detail too near to the threshold may fall on either side of it.
        if (threshold > 0 && std::abs(std::abs(d) - threshold) < tolerance) sharp.v[i] = channel_of(out, c).v[i];
      }
      expect_channel(out, c, sharp, tolerance, name_of(step, in));
    }
  });
}

TEST(Unsharp, AddsWhatTheBlurTakesAway) {
  expect_sharp("sigma: 0.7, amount: 1.5", 0.7, 1.5, 0, false);
  expect_sharp("sigma: 0.5, amount: -0.5", 0.5, -0.5, 0, true);
}

TEST(Unsharp, LeavesFaintDetailAlone) { expect_sharp("sigma: 0.7, amount: 2, threshold: 0.31", 0.7, 2, 0.31, false); }

TEST(Unsharp, SharpensDetailOfTheThresholdItself) {
  const Image in = random_image(make_desc(DType::f32, {9, 7}), 6);
  const Image blurred = run("- gaussian: 1", in), sharp = run("- unsharp", in);
  const float detail = static_cast<float>(sample(in, 4, 3)) - static_cast<float>(sample(blurred, 4, 3));
  ASSERT_NE(detail, 0);
  const Image exact = run(fmt::format("- unsharp: {{threshold: {:.17g}}}", std::abs(detail)), in);
  EXPECT_EQ(sample(exact, 4, 3), sample(sharp, 4, 3));
  const Image above = run(fmt::format("- unsharp: {{threshold: {:.17g}}}", std::abs(detail) * 1.000001), in);
  EXPECT_EQ(sample(above, 4, 3), sample(in, 4, 3));
}

TEST(Unsharp, DefaultsAreSigmaOneAmountOne) {
  const Image in = random_image(make_desc(DType::f32, {15, 11}), 2);
  EXPECT_EQ(difference(run("- unsharp", in), run("- unsharp: {sigma: 1, amount: 1, threshold: 0}", in)), "");
}

TEST(Unsharp, LeavesAlphaAlone) {
  const Image in = random_image(make_desc(DType::u8, {6, 5}, 4, true), 2);
  const Image out = run("- unsharp: 0.6", in);
  expect_channel(out, 3, channel_of(in, 3), 0, "alpha");
}

TEST(Unsharp, ConstantStaysAndNanPropagates) {
  const Image flat = image_of<std::uint16_t>(5, 3, std::vector<double>(15, 1234));
  EXPECT_EQ(difference(flat, run("- unsharp: 2", flat)), "");
  std::vector<double> v(21, 1);
  v[10] = nan;
  const Image out = run("- unsharp: {sigma: 0.5, threshold: 5}", image_of<float>(21, 1, v));
  for (int x = 0; x < 21; ++x) EXPECT_EQ(std::isnan(sample(out, x, 0)), std::abs(x - 10) <= 2) << x;
}

}  // namespace
}  // namespace imgpipe::test
