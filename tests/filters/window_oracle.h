// The oracle of neighbourhood filters: plain double loops over a window, with a border map of its own that walks back
// into the image step by step. Takes nothing from the product but images.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/chain.h"

namespace imgpipe::test {

inline const std::vector<std::string> borders = {"reflect101", "reflect", "replicate", "wrap", "constant"};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// One channel of an image, and what a border makes of it.
struct Channel {
  std::int64_t width, height, depth;
  std::vector<double> v;
  std::string border = "reflect101";
  double constant = 0;

  double& at(std::int64_t x, std::int64_t y, std::int64_t z) { return v[(z * height + y) * width + x]; }
  /// -1: outside, and the border is constant.
  std::int64_t walk(std::int64_t i, std::int64_t n) const {
    while (i < 0 || i >= n) {
      if (border == "constant") return -1;
      if (border == "replicate" || n == 1)
        i += i < 0 ? 1 : -1;
      else if (border == "wrap")
        i += i < 0 ? n : -n;
      else if (border == "reflect")
        i = i < 0 ? -1 - i : 2 * n - 1 - i;
      else
        i = i < 0 ? -i : 2 * n - 2 - i;
    }
    return i;
  }
  double operator()(std::int64_t x, std::int64_t y, std::int64_t z) const {
    const std::int64_t i = walk(x, width), j = walk(y, height), k = walk(z, depth);
    return i < 0 || j < 0 || k < 0 ? constant : v[(k * height + j) * width + i];
  }
};

inline Channel channel_of(const Image& image, int c, const std::string& border = "reflect101", double constant = 0) {
  const Extent& e = image.desc().extent;
  Channel channel{e.width, e.height, e.depth, {}, border, constant};
  for (std::int64_t z = 0; z < e.depth; ++z)
    for (std::int64_t y = 0; y < e.height; ++y)
      for (std::int64_t x = 0; x < e.width; ++x) channel.v.push_back(sample(image, x, y, z, c));
  return channel;
}

struct Tap {
  int x, y, z;
  double weight = 1;
};
/// All offsets of a box, z slowest.
inline std::vector<Tap> box_taps(std::array<int, 3> low, std::array<int, 3> high) {
  std::vector<Tap> taps;
  for (int z = -low[2]; z <= high[2]; ++z)
    for (int y = -low[1]; y <= high[1]; ++y)
      for (int x = -low[0]; x <= high[0]; ++x) taps.push_back({x, y, z});
  return taps;
}

/// out(i) = f(values of the window at i).
inline Channel over_windows(const Channel& in, const std::vector<Tap>& taps,
                            const std::function<double(std::vector<double>&)>& f) {
  Channel out = in;
  for (std::int64_t z = 0; z < in.depth; ++z)
    for (std::int64_t y = 0; y < in.height; ++y)
      for (std::int64_t x = 0; x < in.width; ++x) {
        std::vector<double> values;
        for (const Tap& t : taps) values.push_back(in(x + t.x, y + t.y, z + t.z));
        out.at(x, y, z) = f(values);
      }
  return out;
}
inline Channel weighted_sum(const Channel& in, const std::vector<Tap>& taps) {
  return over_windows(in, taps, [&](std::vector<double>& values) {
    double sum = 0;
    for (std::size_t k = 0; k < taps.size(); ++k) sum += taps[k].weight * values[k];
    return sum;
  });
}

inline double eps_of(DType type) {
  const bool wide = type == DType::f64 || type == DType::i32 || type == DType::u32;
  return wide ? 2.3e-16 : 1.2e-7;
}
inline double largest(const Channel& c) {
  double most = 0;
  for (double v : c.v)
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  return most;
}

/// Channel c of `actual` holds `expected`: within `tolerance` for floats; for integers as far as rounding to the
/// nearest value in range allows, give or take `tolerance`.
inline void expect_channel(const Image& actual, int c, const Channel& expected, double tolerance,
                           const std::string& where) {
  const DType type = actual.desc().dtype;
  for (std::int64_t z = 0; z < expected.depth; ++z)
    for (std::int64_t y = 0; y < expected.height; ++y)
      for (std::int64_t x = 0; x < expected.width; ++x) {
        const double got = sample(actual, x, y, z, c);
        double want = expected(x, y, z), slack = tolerance;
        if (!is_float(type)) {
          const NominalRange range = nominal_range(type);
          want = std::isnan(want) ? 0 : std::clamp(want, range.black, range.white);
          slack += 0.5;
        }
        const bool equal = std::isnan(want) ? std::isnan(got) : got == want || std::abs(got - want) <= slack;
        ASSERT_TRUE(equal) << where << " at (" << x << ", " << y << ", " << z << ") channel " << c << ": " << got
                           << " for " << want << " +- " << slack;
      }
}

/// Channel c of `actual` is the alpha of an image of `before`, as a part of its own white.
inline void expect_alpha(const Image& actual, int c, Channel alpha, DType before, const std::string& where) {
  const double ratio = nominal_range(actual.desc().dtype).white / nominal_range(before).white;
  for (double& v : alpha.v) v *= ratio;
  expect_channel(actual, c, alpha, ratio == 1 ? 0 : eps_of(before) * largest(alpha), where);
}

/// Shapes from one pixel to a few, dtypes, channels and borders: f(image, border, constant).
template <class F>
void for_images(bool volume, F&& f) {
  const std::vector<Extent> shapes = volume ? std::vector<Extent>{{1, 1, 1}, {5, 4, 1}, {4, 3, 2}, {3, 4, 5}}
                                            : std::vector<Extent>{{1, 1}, {9, 1}, {1, 8}, {2, 2}, {5, 7}, {13, 6}};
  unsigned seed = 1;
  for (const Extent& shape : shapes)
    for (DType type : {DType::u8, DType::u16, DType::i16, DType::f32, DType::i32, DType::f64})
      for (int channels : {1, 3, 4}) {
        if (channels > 1 && (type == DType::i16 || type == DType::i32)) continue;
        for (const std::string& border : borders)
          f(random_image(make_desc(type, shape, channels, channels == 4, volume), ++seed), border,
            border == "constant" ? 3.0 : 0.0);
      }
}

/// "- name: {parameters, border: wrap}" with the border.
inline std::string step_of(const std::string& name, const std::string& parameters, const std::string& border,
                           double constant) {
  return "- " + name + ": {" + parameters + (parameters.empty() ? "" : ", ") + "border: " + border +
         (border == "constant" ? ", constant: " + std::to_string(constant) : "") + "}";
}

inline std::string name_of(const std::string& step, const Image& image) {
  return step + " on " + describe(image.desc());
}

/// A linear filter with these taps on every image of for_images, channel by channel.
inline void expect_linear(const std::string& name, const std::string& parameters, bool volume,
                          const std::vector<Tap>& taps) {
  double sum = 0;
  for (const Tap& t : taps) sum += std::abs(t.weight);
  for_images(volume, [&](const Image& in, const std::string& border, double constant) {
    const std::string step = step_of(name, parameters, border, constant);
    const Image out = run(step, in);
    const int colours = in.desc().channels - (in.desc().alpha ? 1 : 0);
    for (int c = 0; c < in.desc().channels; ++c) {
      const Channel channel = channel_of(in, c, border, constant);
      if (c >= colours) expect_alpha(out, c, channel, in.desc().dtype, name_of(step, in) + " (alpha is left alone)");
      // One rounding a tap of a partial sum that is at most |w| * |v|.
      else
        expect_channel(out, c, weighted_sum(channel, taps),
                       eps_of(in.desc().dtype) * static_cast<double>(taps.size()) * sum * (largest(channel) + constant),
                       name_of(step, in));
    }
  });
}

/// The text of the error that a chain ends in.
inline std::string error_of(const std::string& steps, const Image& image) {
  try {
    run(steps, image);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

inline Image gray_volume(DType type, Extent extent, unsigned seed) {
  return random_image(make_desc(type, extent, 1, false, true), seed);
}

}  // namespace imgpipe::test
