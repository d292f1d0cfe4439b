#include "filters/linear/box/box.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "filters/base/alpha.h"
#include "filters/base/pixel.h"
#include "filters/linear/box/box.cuh"

namespace imgpipe::box {
namespace {

constexpr std::int64_t block = 1024;

template <int N, class T, class S>
IMGPIPE_CLONES void add_some(const T* in, std::int64_t step, S* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    S sum = out[i];
    for (int k = 0; k < N; ++k) sum += static_cast<S>(in[i + k * step]);
    out[i] = sum;
  }
}

template <class T, class S>
void sum_row(const T* in, std::int64_t step, int taps, S* out, std::int64_t count) {
  std::fill_n(out, count, S(-0.0));
  int k = 0;
  for (; k + 8 <= taps; k += 8) add_some<8>(in + k * step, step, out, count);
  for (; k + 3 <= taps; k += 3) add_some<3>(in + k * step, step, out, count);
  for (; k < taps; ++k) add_some<1>(in + k * step, step, out, count);
}

template <class T, class S>
void sum(const Window& w, int axis, int low, int taps) {
  const std::int64_t step = axis == 0 ? 1 : axis == 1 ? w.in_pitch : w.in_plane;
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y)
      for (std::int64_t x = 0; x < w.width; x += block)
        sum_row(w.in<T>().row(y, z) + x - low * step, step, taps, w.out<S>().row(y, z) + x,
                std::min(block, w.width - x));
}

Value sum_along(Builder& b, Value value, int axis, const Halo& reach, double constant, Compute sums) {
  const int low = reach.low[axis], high = reach.high[axis], taps = low + high + 1;
  WindowOp op;
  op.border = b.border();
  op.halo = Halo::along(axis, low, high);
  op.constant = constant;
  op.filters_alpha = true;
  op.flops = (sums == Compute::f64 ? 2.0 : 1.0) * taps + 4;
  visit_compute(b.compute(value), [&](auto t) {
    using T = decltype(t);
    if (sums == Compute::f64)
      op.cpu = [axis, low, taps](const Window& w) { sum<T, double>(w, axis, low, taps); };
    else
      op.cpu = [axis, low, taps](const Window& w) { sum<T, float>(w, axis, low, taps); };
  });
  op.device = {"filters/linear/box/box.cuh",
               std::string("box::Sum<") + c_name(b.compute(value)) + ", " + c_name(sums) + ", " + std::to_string(axis) +
                   ", " + std::to_string(low) + ", " + std::to_string(high) + ">",
               std::vector<std::byte>(1),
               {}};
  return b.window(value, std::move(op), false, sums);
}

template <class S>
IMGPIPE_CLONES void divide_row(const S* in, S* out, std::int64_t n, S count) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] / count;
}

Value divide(Builder& b, Value sum, double count) {
  return b.pixel(
      {sum}, unary_op(
                 b.compute(sum), "filters/linear/box/box.cuh", "box::Divide", 8,
                 [count](auto t) { return Divide<decltype(t)>{decltype(t)(count)}; },
                 [](const auto* in, auto* out, std::int64_t n, const auto& op) { divide_row(in, out, n, op.count); }));
}

/// float32 when no sum can be inexact in it; the quotient is then the same as by way of float64.
Compute sums_of(const ValueInfo& info, double pixels, Border border, double constant) {
  constexpr double exact = 16777216;
  if (info.compute == Compute::f64 || !info.whole || is_float(info.desc.dtype)) return Compute::f64;
  if (border == Border::constant && !is_value_of(constant, info.desc.dtype)) return Compute::f64;
  const NominalRange range = nominal_range(info.desc.dtype);
  return pixels * std::max(range.white, -range.black) <= exact ? Compute::f32 : Compute::f64;
}

Value mean(Builder& b, Value in, const Halo& reach) {
  const Compute compute = b.compute(in);
  double pixels = 1, count = 1;
  for (int a = 0; a < 3; ++a) pixels *= reach.low[a] + reach.high[a] + 1;
  const Compute sums = sums_of(b.info(in), pixels, b.border(), b.constant());
  Value value = in;
  for (int a = 0; a < 3; ++a) {
    const int taps = reach.low[a] + reach.high[a] + 1;
    if (taps == 1) continue;
    value = sum_along(b, value, a, reach, b.constant() * count, sums);
    count *= taps;
  }
  // Weighted colours are divided by their weights' sum in the end: there the number of pixels cancels out.
  return b.with_compute(b.info(in).desc.alpha ? value : divide(b, value, count), compute);
}

void validate(const Params& p, bool) { check_size(p.size, false); }

Value build_step(Builder& b, const StepInputs& in, const Params& p) {
  return build(b, in.image, reach_of(p.radius, p.size, b.info(in.image).desc.volume));
}

}  // namespace

Value build(Builder& b, Value in, const Halo& reach) {
  if (reach.empty()) return in;
  return weighted_by_alpha(b, in, [&](Value value) { return mean(b, value, reach); });
}

FilterSpec spec() {
  return declare(
      "linear",
      Filter<Params>{
          .name = "box",
          .summary = "Replace each pixel by the mean of its neighbourhood.",
          .kind = Kind::neighbourhood,
          .params = {field("radius", &Params::radius, Range{0, most_radius}, "px",
                           "The window is 2 radius + 1 pixels wide: one for all axes, or [x, y, z]."),
                     field("size", &Params::size, Range{0, 2 * most_radius + 1}, "px",
                           "Width of the window in place of radius; of an even k it is [i - k/2, i + k/2 - 1].")},
          .main_param = "radius",
          .result = "that of the image",
          .formula =
              "Sums along x, then y, then z (volumes), each in float64 and in ascending order; then one division "
              "by the number of pixels. Every window is summed afresh, so a NaN or an infinity reaches no "
              "further than its windows. With alpha: sum of colour * alpha / sum of alpha (0 where that is 0), and "
              "alpha is left alone.",
          .validate = validate,
          .build = build_step,
          .examples = {"2", "{size: 2}", "{size: [4, 3]}", "{radius: [0, 6]}"},
      });
}

}  // namespace imgpipe::box
