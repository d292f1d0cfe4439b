// Per-pixel filters against their definition in double precision.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/chain.h"

namespace imgpipe::test {

/// What a value becomes when it is written as `type`: rounded half to even and saturated, NaN 0.
inline double as_written(double v, DType type) {
  return visit_dtype(type, [v](auto t) -> double {
    using T = decltype(t);
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(static_cast<T>(v));
    else {
      if (std::isnan(v)) return 0;
      return std::clamp(std::nearbyint(v), double(std::numeric_limits<T>::min()),
                        double(std::numeric_limits<T>::max()));
    }
  });
}

struct PixelCase {
  DType dtype;
  int channels;
  Extent extent;
  bool alpha() const { return channels == 2 || channels == 4; }
};

/// Whether sample i of the case's image is alpha.
inline bool is_alpha(const PixelCase& c, std::size_t i) {
  return c.alpha() && static_cast<int>(i % static_cast<std::size_t>(c.channels)) == c.channels - 1;
}

inline std::vector<PixelCase> pixel_cases() {
  std::vector<PixelCase> cases;
  for (DType dtype : all_dtypes)
    for (int channels : {1, 3, 4})
      for (const Extent& extent : {Extent{1, 1}, Extent{9, 1}, Extent{5, 7}, Extent{3, 8, 2}})
        cases.push_back({dtype, channels, extent});
  return cases;
}

inline Image case_image(const PixelCase& c, unsigned seed) {
  return random_image(make_desc(c.dtype, c.extent, c.channels, c.alpha(), c.extent.depth > 1), seed);
}

/// Runs `step` on random images of every dtype, channel count and shape. `define(v, dtype)` is the definition of a
/// colour sample in double; alpha must be unchanged. The corridor is relative to max(|expected|, 1e-3 * white) for
/// floats, and in levels for integers: 1 where rounding may fall the other way, 0 for exact filters.
inline void expect_definition(const std::string& step, const std::function<double(double, DType)>& define,
                              double relative, double levels, std::optional<DType> result = {}) {
  constexpr unsigned seed = 4711;
  for (const PixelCase& c : pixel_cases()) {
    const Image image = case_image(c, seed);
    const Image out = run(step, image);
    const DType type = result.value_or(c.dtype);
    ASSERT_EQ(out.desc().dtype, type) << step;
    ASSERT_EQ(out.desc().extent, c.extent);
    const std::vector<double> before = samples(image), after = samples(out);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool alpha = is_alpha(c, i);
      const double opaque = nominal_range(type).white / nominal_range(c.dtype).white;
      const double exact = alpha ? before[i] * opaque : define(before[i], c.dtype);
      const double expected = as_written(exact, type);
      // Alpha of another white is rounded once.
      const double slack = alpha && opaque == 1 ? 0
                           : is_float(type)     ? (alpha ? 1e-6 : relative) * std::max(std::abs(expected), 1e-3)
                           : alpha              ? 1
                                                : levels;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(after[i]) || !is_float(type)) << step << " on " << describe(image.desc());
        continue;
      }
      ASSERT_LE(std::abs(after[i] - expected), slack)
          << step << " on " << describe(image.desc()) << " seed " << seed << " sample " << i << " from " << before[i]
          << ": " << after[i] << " against " << expected;
    }
  }
}

/// A float image of one row.
inline Image row_of(const std::vector<double>& values) {
  return image_of<float>(static_cast<std::int64_t>(values.size()), 1, values);
}

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Values with NaN equal to NaN.
inline void expect_values(const Image& image, const std::vector<double>& expected, double slack = 0) {
  const std::vector<double> actual = samples(image);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(actual[i])) << "sample " << i << " is " << actual[i];
    else if (std::isinf(expected[i]))
      EXPECT_EQ(actual[i], expected[i]) << "sample " << i;
    else
      EXPECT_NEAR(actual[i], expected[i], slack) << "sample " << i;
  }
}

}  // namespace imgpipe::test
