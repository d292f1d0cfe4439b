#include "filters/linear/gaussian/gaussian.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "filters/base/alpha.h"
#include "filters/linear/correlate1d/correlate1d.h"

namespace imgpipe::gaussian {
namespace {

constexpr int most_radius = (correlate1d::most_taps - 1) / 2;

int radius_of(double sigma, double truncate) {
  const double radius = std::ceil(truncate * sigma);
  if (radius > most_radius)
    throw std::invalid_argument("sigma of " + number_text(sigma) + " px needs a radius of " + number_text(radius) +
                                ", and at most " + std::to_string(most_radius) +
                                " is possible: shrink the image first, or lower truncate");
  return static_cast<int>(radius);
}

Value passes(Builder& b, Value value, const std::array<double, 3>& sigma, double truncate,
             const std::array<int, 3>& order, bool filters_alpha) {
  const int axes = b.info(value).desc.volume ? 3 : 2;
  double constant = b.constant();
  for (int a = 0; a < axes; ++a) {
    const int radius = radius_of(sigma[a], truncate);
    if (radius == 0) continue;
    const std::vector<double> taps = weights(sigma[a], truncate, order[a]);
    value = correlate1d::build(b, value, static_cast<Axis>(a), taps, radius, {filters_alpha, constant});
    // Outside the image later passes see what this one makes of the constant.
    if (order[a] > 0) constant *= std::accumulate(taps.begin(), taps.end(), 0.0);
  }
  return value;
}

Value derivative(Builder& b, Value in, const std::array<double, 3>& sigma, const Params& p) {
  const int axes = b.info(in).desc.volume ? 3 : 2;
  for (int a = 0; a < axes; ++a)
    if (p.order[a] > 0 && sigma[a] == 0)
      throw std::invalid_argument("a derivative along " + std::string(EnumNames<Axis>::value[a]) +
                                  " needs a sigma above 0 there");
  const Value value = passes(b, in, sigma, p.truncate, p.order, false);
  if (value.id == in.id) return in;
  return b.retype(value, dtype_of(b.compute(value)));
}

Value build_step(Builder& b, const StepInputs& in, const Params& p) {
  const bool volume = b.info(in.image).desc.volume;
  if (p.order[0] == 0 && p.order[1] == 0 && (p.order[2] == 0 || !volume))
    return build(b, in.image, p.sigma, p.truncate);
  return derivative(b, in.image, in_pixels(p.sigma, b.info(in.image).desc.geometry), p);
}

}  // namespace

std::vector<double> weights(double sigma, double truncate, int order) {
  const int radius = radius_of(sigma, truncate);
  const double variance = sigma * sigma;
  std::vector<double> w;
  double sum = 0;
  for (int k = -radius; k <= radius; ++k) {
    w.push_back(sigma == 0 ? 1 : std::exp(-0.5 * k * k / variance));
    sum += w.back();
  }
  for (int k = -radius; k <= radius; ++k) {
    double& value = w[k + radius];
    value /= sum;
    if (order == 1) value *= k / variance;
    if (order == 2) value *= (k * k / variance - 1) / variance;
  }
  return w;
}

Value build(Builder& b, Value in, const Lengths& sigma, double truncate) {
  const std::array<double, 3> pixels = in_pixels(sigma, b.info(in).desc.geometry);
  const int axes = b.info(in).desc.volume ? 3 : 2;
  if (std::all_of(pixels.begin(), pixels.begin() + axes, [](double s) { return s == 0; })) return in;
  return weighted_by_alpha(b, in, [&](Value value) { return passes(b, value, pixels, truncate, {0, 0, 0}, true); });
}

FilterSpec spec() {
  return declare(
      "linear",
      Filter<Params>{
          .name = "gaussian",
          .summary = "Blur with a Gaussian, or take Gaussian derivatives.",
          .kind = Kind::neighbourhood,
          .params = {required(field("sigma", &Params::sigma, Range{0, 1e6}, "px",
                                    "Standard deviation: one for all axes, or [x, y, z]; 0 leaves an axis alone.")),
                     field("truncate", &Params::truncate, Range{0.5, 20}, "sigma",
                           "The window ends at this many sigma."),
                     field("order", &Params::order, Range{0, 2}, "",
                           "Derivative along each axis, [x, y, z]: 0 blurs, 1 and 2 differentiate.")},
          .main_param = "sigma",
          .result = "that of the image; float32 (float64 for 32-bit integers and float64) for derivatives",
          .formula = "Radius r = ceil(truncate * sigma), for every dtype. Weights exp(-k^2 / (2 sigma^2)), "
                     "k = -r ... r, divided by their sum; times k / sigma^2 for order 1 and "
                     "(k^2 / sigma^2 - 1) / sigma^2 for order 2, so that a rising ramp has a positive derivative "
                     "(scipy.ndimage.gaussian_filter). Passes along x, y and, in volumes, z; taps ascending, one fused "
                     "multiply-add each. Colour is weighted by alpha; derivatives take the "
                     "colours as they are. Alpha is left alone.",
          .build = build_step,
          .examples = {"1.2", "{sigma: [0.8, 2], truncate: 3}", "{sigma: 1, order: [1, 0, 0]}"},
      });
}

}  // namespace imgpipe::gaussian
