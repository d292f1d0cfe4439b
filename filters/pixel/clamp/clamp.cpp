#include "filters/pixel/clamp/clamp.h"

#include <limits>
#include <stdexcept>

#include "filters/base/pixel.h"
#include "filters/pixel/clamp/clamp.cuh"

namespace imgpipe::clamp {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
IMGPIPE_CLONES void row(const T* in, T* out, std::int64_t n, T low, T high) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T raised = in[i] <= low ? low : in[i];
    out[i] = raised > high ? high : raised;
  }
}

}  // namespace

Value build(Builder& b, Value in, double low, double high) {
  return b.pixel({in},
                 unary_op(
                     b.compute(in), "filters/pixel/clamp/clamp.cuh", "clamp::Op", 2,
                     [&](auto t) {
                       return Op<decltype(t)>{decltype(t)(low) + decltype(t)(0), decltype(t)(high) + decltype(t)(0)};
                     },
                     [](auto* i, auto* o, std::int64_t n, const auto& k) { row(i, o, n, k.low, k.high); }));
}

FilterSpec spec() {
  return declare(
      "pixel",
      Filter<Params>{
          .name = "clamp",
          .summary = "Limit values to a range.",
          .kind = Kind::pixel,
          .params = {field("low", &Params::low, "", "Smaller values become this; no lower limit when left out."),
                     field("high", &Params::high, "", "Larger values become this; no upper limit when left out.")},
          .result = "that of the image",
          .formula = "min(max(v, low), high), in native values. NaN stays NaN.",
          .validate =
              [](const Params& p, bool) {
                if (!p.low && !p.high) throw std::invalid_argument("give `low`, `high` or both");
                if (p.low && p.high && *p.low > *p.high) throw std::invalid_argument("low must not be above high");
              },
          .build = [](Builder& b, const StepInputs& in,
                      const Params& p) { return build(b, in.image, p.low.value_or(-inf), p.high.value_or(inf)); },
          .examples = {"{low: 0.2, high: 90}", "{high: 1}"},
      });
}

}  // namespace imgpipe::clamp
