// The elementary functions against the C library in a wider type, and their special values.
#include "filters/base/maths.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace imgpipe {
namespace {

/// Distance in units of the last place of `wanted` as a float, or double.
template <class T, class Wide>
double ulps(T got, Wide wanted) {
  if (got != got && wanted != wanted) return 0;
  const T nearest = static_cast<T>(wanted);
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : 1e9;
  int exponent = 0;
  std::frexp(nearest, &exponent);
  const int digits = std::numeric_limits<T>::digits;
  const Wide unit = std::ldexp(Wide(1), std::max(exponent, std::numeric_limits<T>::min_exponent) - digits);
  return static_cast<double>(std::abs(static_cast<Wide>(got) - wanted) / unit);
}

/// The largest error of f over every 499th float pattern that `use` takes.
template <class F, class G, class Use>
double worst_float(F f, G exact, Use use) {
  double worst = 0;
  for (std::uint64_t bits = 0; bits < 0xffffffffull; bits += 499) {
    const float x = maths::float_from_bits(static_cast<std::uint32_t>(bits));
    if (use(x)) worst = std::max(worst, ulps(f(x), exact(static_cast<double>(x))));
  }
  return worst;
}

TEST(Maths, FloatFunctionsAreAccurateEverywhere) {
  const auto all = [](float) { return true; };
  EXPECT_LE(worst_float([](float x) { return maths::exp(x); }, [](double x) { return std::exp(x); }, all), 1.0);
  EXPECT_LE(worst_float([](float x) { return maths::exp2(x); }, [](double x) { return std::exp2(x); }, all), 1.0);
  EXPECT_LE(worst_float([](float x) { return maths::log(x); }, [](double x) { return std::log(x); }, all), 1.0);
  EXPECT_LE(worst_float([](float x) { return maths::log2(x); }, [](double x) { return std::log2(x); }, all), 1.0);
  EXPECT_LE(worst_float([](float x) { return maths::log10(x); }, [](double x) { return std::log10(x); }, all), 0.51);
}

class PowerOf : public testing::TestWithParam<float> {};

TEST_P(PowerOf, AFloatIsAccurate) {
  const float y = GetParam();
  const auto exact = [y](double x) { return std::pow(x, static_cast<double>(y)); };
  EXPECT_LE(worst_float([y](float x) { return maths::pow(x, y); }, exact, [](float) { return true; }), 1.25);
  if (y <= 0 || y >= 4) return;
  const auto moderate = [y](float x) { return x >= 1.2e-38f && std::isfinite(x) && std::abs(y * std::log2(x)) < 16; };
  EXPECT_LE(worst_float([y](float x) { return maths::pow_magnitude(x, y); }, exact, moderate), 2.3);
}
INSTANTIATE_TEST_SUITE_P(Exponents, PowerOf, testing::Values(0.4f, 0.8f, 1.0f, 2.2f, 2.4f, 3.0f, -1.0f, -3.0f, 0.5f));

TEST(Maths, RoundedDownIsTheGreatestFloatNotAbove) {
  std::mt19937_64 random(7);
  const float most = std::numeric_limits<float>::max(), endless = std::numeric_limits<float>::infinity();
  std::vector<double> numbers = {0, -0.0, 1e-60, -1e-60, 9.9999999999, 1e60, -1e60, most, -double(most), 1.0};
  for (int i = 0; i < 1000; ++i) numbers.push_back(std::ldexp(static_cast<double>(random()) - 0x1p63, -(i % 250)));
  for (double v : numbers) {
    const float down = maths::rounded_down(v, 0.0f);
    EXPECT_LE(down, v);
    EXPECT_TRUE(std::nextafter(down, endless) > v || down == endless) << v;
    EXPECT_EQ(maths::rounded_down(v, 0.0), v);
    EXPECT_EQ(maths::next_below(v), std::nextafter(v, -double(endless)));
  }
  EXPECT_EQ(maths::rounded_down(double(endless), 0.0f), endless);
  EXPECT_TRUE(std::isnan(maths::rounded_down(std::nan(""), 0.0f)));
}

TEST(Maths, DoubleFunctionsAreAccurate) {
  std::mt19937_64 random(20240607);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  double exp = 0, log = 0, pow = 0, sin = 0, cos = 0, atan = 0, atan2 = 0;
  for (int i = 0; i < 300000; ++i) {
    const double x = std::ldexp(uniform(), static_cast<int>(random() % 60) - 30), y = (uniform() - 0.5) * 40;
    const double angle = (uniform() - 0.5) * 2000;
    exp = std::max(exp, ulps(maths::exp(angle / 2), std::exp(static_cast<long double>(angle / 2))));
    log = std::max(log, ulps(maths::log(x), std::log(static_cast<long double>(x))));
    pow = std::max(pow, ulps(maths::pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))));
    sin = std::max(sin, ulps(maths::sin(angle), std::sin(static_cast<long double>(angle))));
    cos = std::max(cos, ulps(maths::cos(angle), std::cos(static_cast<long double>(angle))));
    atan = std::max(atan, ulps(maths::atan(y), std::atan(static_cast<long double>(y))));
    atan2 = std::max(atan2, ulps(maths::atan2(y, x - 1), std::atan2(static_cast<long double>(y), x - 1.0L)));
  }
  EXPECT_LE(exp, 1.1);
  EXPECT_LE(log, 0.6);
  EXPECT_LE(pow, 1.2);
  EXPECT_LE(sin, 1.6);
  EXPECT_LE(cos, 1.6);
  EXPECT_LE(atan, 2.5);
  EXPECT_LE(atan2, 3.0);
}

TEST(Maths, PowHasTheSpecialValuesOfC99) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0.0f, -0.0f, 1, -1, 2, -2, 0.5f, -0.5f, 3, -3, inf, -inf, nan, 1e-40f, -1e-40f, 2.5f, 1e30f};
  for (float x : values)
    for (float y : values) {
      const float wanted = std::pow(x, y), got = maths::pow(x, y);
      EXPECT_LE(ulps(got, static_cast<double>(wanted)), 4) << x << " to the " << y << " is " << got;
      EXPECT_EQ(std::isnan(got), std::isnan(wanted)) << x << " to the " << y;
      EXPECT_TRUE(got != 0 || std::signbit(got) == std::signbit(wanted)) << x << " to the " << y;
    }
}

TEST(Maths, MinimumAndMaximumPropagateNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(maths::min(nan, 1.0f)) && std::isnan(maths::min(1.0f, nan)));
  EXPECT_TRUE(std::isnan(maths::max(nan, 1.0f)) && std::isnan(maths::max(1.0f, nan)));
  EXPECT_TRUE(std::isnan(maths::not_below(nan, 1.0f)) && std::isnan(maths::not_above(nan, 1.0f)));
  EXPECT_EQ(maths::min(2.0f, 1.0f), 1.0f);
  EXPECT_EQ(maths::not_below(-0.0f, 0.0f), 0.0f);
  EXPECT_FALSE(std::signbit(maths::not_below(-0.0f, 0.0f)));
}

}  // namespace
}  // namespace imgpipe
