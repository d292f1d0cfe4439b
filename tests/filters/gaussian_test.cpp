#include <opencv2/imgproc.hpp>

#include "tests/filters/window_oracle.h"

namespace imgpipe::test {
namespace {

std::vector<double> weights(double sigma, int radius) {
  std::vector<double> w;
  double sum = 0;
  for (int k = -radius; k <= radius; ++k) w.push_back(std::exp(-0.5 * k * k / (sigma * sigma)));
  for (double v : w) sum += v;
  for (double& v : w) v /= sum;
  return w;
}

std::vector<Tap> kernel(std::array<double, 3> sigma, double truncate, bool volume) {
  std::array<int, 3> r{};
  std::array<std::vector<double>, 3> w;
  for (int a = 0; a < 3; ++a) {
    const double s = a < 2 || volume ? sigma[a] : 0;
    r[a] = static_cast<int>(std::ceil(truncate * s));
    w[a] = s > 0 ? weights(s, r[a]) : std::vector<double>{1};
  }
  std::vector<Tap> taps = box_taps(r, r);
  for (Tap& t : taps) t.weight = w[0][t.x + r[0]] * w[1][t.y + r[1]] * w[2][t.z + r[2]];
  return taps;
}

/// With alpha: colours times alpha over the nominal white, filtered, over filtered alpha.
void expect_blur(const std::string& parameters, bool volume, const std::vector<Tap>& taps) {
  for_images(volume, [&](const Image& in, const std::string& border, double constant) {
    if (in.desc().alpha && border == "constant") constant = 0;
    const std::string step = step_of("gaussian", parameters, border, constant);
    const Image out = run(step, in);
    const int channels = in.desc().channels, colours = channels - (in.desc().alpha ? 1 : 0);
    // A few roundings more than taps along one axis, each of at most the largest value.
    const double eps = 40 * eps_of(in.desc().dtype);
    for (int c = 0; c < colours; ++c) {
      Channel channel = channel_of(in, c, border, constant);
      const double tolerance = eps * (largest(channel) + constant);
      if (!in.desc().alpha) {
        expect_channel(out, c, weighted_sum(channel, taps), tolerance, name_of(step, in));
        continue;
      }
      const Channel alpha = channel_of(in, colours, border, constant);
      for (std::size_t i = 0; i < alpha.v.size(); ++i) channel.v[i] *= alpha.v[i];
      Channel colour = weighted_sum(channel, taps);
      const Channel weight = weighted_sum(alpha, taps);
      // Weights near 0 enlarge the error: samples there are not judged.
      for (std::size_t i = 0; i < weight.v.size(); ++i)
        colour.v[i] =
            std::abs(weight.v[i]) < 0.1 * largest(alpha)
                ? sample(out, i % in.desc().extent.width, i / in.desc().extent.width % in.desc().extent.height,
                         i / in.desc().extent.width / in.desc().extent.height, c)
                : colour.v[i] / weight.v[i];
      expect_channel(out, c, colour, 40 * tolerance, name_of(step, in));
    }
    if (in.desc().alpha) expect_channel(out, colours, channel_of(in, colours), 0, "alpha of " + name_of(step, in));
  });
}

TEST(Gaussian, IsTheWeightedMean) {
  expect_blur("sigma: 0.8", false, kernel({0.8, 0.8, 0.8}, 4, false));
  expect_blur("sigma: [0.6, 1.7], truncate: 3", false, kernel({0.6, 1.7, 0}, 3, false));
  expect_blur("sigma: [0, 1.2]", false, kernel({0, 1.2, 0}, 4, false));
  expect_blur("sigma: 0.5", true, kernel({0.5, 0.5, 0.5}, 4, true));
  expect_blur("sigma: [0.5, 0, 0.9]", true, kernel({0.5, 0, 0.9}, 4, true));
}

TEST(Gaussian, SigmaZeroChangesNothing) {
  const Image in = random_image(make_desc(DType::u16, {7, 5}), 3);
  EXPECT_EQ(difference(in, run("- gaussian: 0", in)), "");
}

TEST(Gaussian, AgreesWithOpenCvOnFloats) {
  const Image in = random_image(make_desc(DType::f32, {61, 47}), 5);
  cv::Mat source(47, 61, CV_32F, const_cast<float*>(in.samples<float>())), expected;
  const cv::Mat taps = cv::getGaussianKernel(17, 2, CV_64F);
  cv::sepFilter2D(source, expected, CV_32F, taps, taps, cv::Point(-1, -1), 0, cv::BORDER_REFLECT_101);
  const Image out = run("- gaussian: 2", in);
  for (int y = 0; y < 47; ++y)
    for (int x = 0; x < 61; ++x) ASSERT_NEAR(sample(out, x, y), expected.at<float>(y, x), 1e-6) << x << ", " << y;
}

// FS3: constant images stay constant.
TEST(Gaussian, ConstantStaysConstantOnTinyImages) {
  for (int w : {1, 2, 3, 5})
    for (int h : {1, 2, 3, 5})
      for (const char* sigma : {"0.5", "1", "1.75"})
        for (const char* border : {"reflect101", "reflect", "replicate", "wrap"}) {
          const Image in = image_of<std::uint8_t>(w, h, std::vector<double>(w * h, 128));
          EXPECT_EQ(
              difference(
                  in, run(std::string("- gaussian: {sigma: ") + sigma + ", border: " + std::string(border) + "}", in)),
              "");
        }
}

// FS5: no cap on the width.
TEST(Gaussian, WideKernelsAreNotCut) {
  std::vector<double> v(401, 0);
  v[200] = 1;
  const Image out = run("- gaussian: {sigma: [40, 0], border: constant}", image_of<float>(401, 1, v));
  EXPECT_NEAR(sample(out, 240, 0) / sample(out, 200, 0), 0.6065, 0.006);
  EXPECT_NE(error_of("- gaussian: {sigma: 5000}", image_of<float>(5, 1, {1, 2, 3, 4, 5})).find("sigma"),
            std::string::npos);
}

// FS7: the radius is ceil(truncate * sigma) for every dtype.
TEST(Gaussian, RadiusFollowsTruncate) {
  std::vector<double> v(21, 0);
  v[10] = 1;
  const Image impulse = image_of<double>(21, 1, v);
  const double centre[] = {0.451863, 0.402620, 0.399050, 0.398943};
  for (int r = 1; r <= 4; ++r) {
    const Image out = run("- gaussian: {sigma: [1, 0], truncate: " + std::to_string(r) + "}", impulse);
    EXPECT_NEAR(sample(out, 10, 0), centre[r - 1], 5e-7);
    EXPECT_GT(sample(out, 10 + r, 0), 0);
    EXPECT_EQ(sample(out, 11 + r, 0), 0);
  }
  std::vector<double> bright(21 * 21, 0);
  bright[10 * 21 + 10] = 255;
  const Image u8 = run("- gaussian: 1", image_of<std::uint8_t>(21, 21, bright));
  const Image f32 = run("- gaussian: 1", image_of<float>(21, 21, bright));
  for (int y = 0; y < 21; ++y)
    for (int x = 0; x < 21; ++x) EXPECT_EQ(sample(u8, x, y), std::nearbyint(sample(f32, x, y)));
  EXPECT_EQ(sample(u8, 8, 10), 5);
  EXPECT_EQ(sample(u8, 9, 10), 25);
  EXPECT_EQ(sample(u8, 10, 10), 41);
}

/// Weights of a derivative: those of the blur times k / sigma^2, or (k^2 / sigma^2 - 1) / sigma^2.
std::vector<Tap> derivative_kernel(double sigma, std::array<int, 3> order, bool volume) {
  std::vector<Tap> taps = kernel({sigma, sigma, sigma}, 4, volume);
  for (Tap& t : taps) {
    const int at[3] = {t.x, t.y, t.z};
    for (int a = 0; a < 3; ++a) {
      const double part = at[a] / sigma;
      if (order[a] == 1) t.weight *= part / sigma;
      if (order[a] == 2) t.weight *= (part * part - 1) / (sigma * sigma);
    }
  }
  return taps;
}

TEST(Gaussian, DerivativesAreWeightedSumsUnderEveryBorder) {
  expect_linear("gaussian", "sigma: 0.7, order: [1, 0, 0]", false, derivative_kernel(0.7, {1, 0, 0}, false));
  expect_linear("gaussian", "sigma: 0.7, order: [2, 1, 0]", false, derivative_kernel(0.7, {2, 1, 0}, false));
  expect_linear("gaussian", "sigma: 0.5, order: [0, 0, 2]", true, derivative_kernel(0.5, {0, 0, 2}, true));
}

TEST(Gaussian, DerivativesOfARamp) {
  std::vector<double> v;
  for (int y = 0; y < 21; ++y)
    for (int x = 0; x < 21; ++x) v.push_back(3 * x + x * x);
  const Image in = image_of<std::int16_t>(21, 21, v);
  const Image first = run("- gaussian: {sigma: 1, order: [1, 0, 0]}", in);
  const Image second = run("- gaussian: {sigma: 1, order: [2, 0, 0]}", in);
  const Image across = run("- gaussian: {sigma: 1, order: [0, 1, 0]}", in);
  EXPECT_EQ(first.desc().dtype, DType::f32);
  // Cutting at 4 sigma and sampling the Gaussian cost about 1e-3 of the derivative.
  EXPECT_NEAR(sample(first, 10, 10), 3 + 2 * 10, 0.03);
  EXPECT_NEAR(sample(second, 10, 10), 2, 0.1);
  EXPECT_NEAR(sample(across, 10, 10), 0, 1e-4);
  EXPECT_NE(error_of("- gaussian: {sigma: [0, 1], order: [1, 0, 0]}", in).find("derivative"), std::string::npos);
}

TEST(Gaussian, OfClearPixelsIsBlack) {
  const Image clear = run("- gaussian: 1", image_of<float>(2, 1, {7, 8, 9, 0, 1, 2, 3, 0}, 4, true));
  EXPECT_EQ(samples(clear), (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Gaussian, TransparentColourDoesNotBleed) {
  const Image in = image_of<std::uint8_t>(3, 1, {200, 0, 0, 255, 9, 250, 9, 0, 200, 0, 0, 255}, 4, true);
  const Image out = run("- gaussian: 1", in);
  for (int x = 0; x < 3; ++x) {
    EXPECT_EQ(sample(out, x, 0, 0, 0), 200);
    EXPECT_EQ(sample(out, x, 0, 0, 1), 0);
    EXPECT_EQ(sample(out, x, 0, 0, 3), x == 1 ? 0 : 255);
  }
}

TEST(Gaussian, MillimetresFollowTheSpacing) {
  Image in = random_image(make_desc(DType::f32, {9, 9}), 4);
  in.desc().geometry = {{0.5, 2, 1}, {0, 0, 0}, "mm"};
  const Image out = run("- gaussian: 1 mm", in), expected = run("- gaussian: [2, 0.5]", in);
  EXPECT_EQ(difference(out, expected), "");
  EXPECT_NE(error_of("- gaussian: 1 mm", random_image(make_desc(DType::f32, {9, 9}), 4)).find("pixel"),
            std::string::npos);
}

TEST(Gaussian, NanStaysInItsWindows) {
  std::vector<double> v(25, 1);
  v[12] = nan;
  const Image out = run("- gaussian: {sigma: 0.5}", image_of<float>(25, 1, v));
  for (int x = 0; x < 25; ++x) EXPECT_EQ(std::isnan(sample(out, x, 0)), std::abs(x - 12) <= 2) << x;
}

}  // namespace
}  // namespace imgpipe::test
