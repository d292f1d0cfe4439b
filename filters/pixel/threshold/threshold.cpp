#include "filters/pixel/threshold/threshold.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "filters/base/pixel.h"
#include "filters/pixel/threshold/threshold.cuh"
#include "filters/reduction/otsu/otsu.h"

namespace imgpipe::threshold {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// The greatest T that is not above the limit: rounded to the nearest, it could meet a sample that is above it.
template <class T>
T as_limit(double limit) {
  const T nearest = static_cast<T>(limit);
  return nearest > limit ? std::nextafter(nearest, -std::numeric_limits<T>::infinity()) : nearest;
}

template <class T>
IMGPIPE_CLONES void row(const T* in, T* out, std::int64_t n, T low, T high) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] > low && in[i] <= high ? T(255) : T(0);
}

Value between(Builder& b, Value in, double low, double high) {
  return b.cast(
      b.pixel({in}, unary_op(
                        b.compute(in), "filters/pixel/threshold/threshold.cuh", "threshold::Between", 3,
                        [&](auto t) {
                          return Between<decltype(t)>{as_limit<decltype(t)>(low), as_limit<decltype(t)>(high)};
                        },
                        [](auto* i, auto* o, std::int64_t n, const auto& k) { row(i, o, n, k.low, k.high); })),
      DType::u8);
}

/// A limit as text, when it is a number or a percentage.
std::optional<Level> level_of(const std::string& text) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = text;
  try {
    return parse_level(node);
  } catch (const NodeError&) {
    return std::nullopt;
  }
}

Value by_value(Builder& b, Value in, const std::string& value) {
  if (value == "otsu") return otsu::build(b, in);
  if (value == "mean") return above(b, in, b.reduce(in, {.kind = ReduceOp::Kind::moments}), 4);
  const Level level = *level_of(value);
  if (!level.percent) return above(b, in, level.value);
  return above(b, in, b.reduce(in, {.kind = ReduceOp::Kind::quantiles, .fractions = {level.value / 100}}), 0);
}

}  // namespace

Value above(Builder& b, Value in, double limit) { return between(b, in, limit, inf); }

Value above(Builder& b, Value in, Scalars scalars, int index) {
  PixelOp op;
  op.flops = 2;
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    op.cpu = [index](const PixelRow& r) { row(r.in<T>(), r.out<T>(), r.count, as_limit<T>(r.scalars[index]), T(inf)); };
    op.device = device_code("filters/pixel/threshold/threshold.cuh",
                            std::string("threshold::Above<") + c_name(b.compute(in)) + ">", Above<T>{T(0), index});
  });
  return b.cast(b.pixel({in}, std::move(op), false, scalars), DType::u8);
}

FilterSpec spec() {
  return declare("pixel",
                 Filter<Params>{
                     .name = "threshold",
                     .summary = "Make a mask of what is brighter than a limit.",
                     .kind = Kind::pixel,
                     .params = {field("value", &Params::value, "",
                                      "Limit: a number in native values, a percentage of the pixels, otsu or mean."),
                                field("low", &Params::low, "", "With `high`: the mask is low < v <= high."),
                                field("high", &Params::high, "", "See `low`.")},
                     .main_param = "value",
                     .result = "uint8, 0 or 255",
                     .formula = "255 where v > limit, else 0: no limit is rounded. NaN is background. Statistics are "
                                "taken over all colours "
                                "together, alpha left out.",
                     .validate =
                         [](const Params& p, bool) {
                           if (p.value.empty() == (!p.low && !p.high))
                             throw std::invalid_argument("give `value`, or `low` and/or `high`");
                           if (!p.value.empty() && p.value != "otsu" && p.value != "mean" && !level_of(p.value))
                             throw std::invalid_argument("value must be a number, a percentage, otsu or mean, got '" +
                                                         p.value + "'");
                         },
                     .build =
                         [](Builder& b, const StepInputs& in, const Params& p) {
                           if (!p.value.empty()) return by_value(b, in.image, p.value);
                           return between(b, in.image, p.low.value_or(-inf), p.high.value_or(inf));
                         },
                     .examples = {"100", "0.5", "otsu", "mean", "30%", "{low: 10, high: 200}"},
                 });
}

}  // namespace imgpipe::threshold
