#include "filters/reduction/normalize/normalize.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "filters/reduction/normalize/normalize.cuh"

namespace imgpipe::normalize {
namespace {

template <class T>
IMGPIPE_CLONES void row(const T* in, T* out, std::int64_t n, T low, T high, T black, T white) {
  const T scale = high > low ? (white - black) / (high - low) : std::numeric_limits<T>::max();
  for (std::int64_t i = 0; i < n; ++i) {
    const T t = std::fma(in[i] - low, scale, black);
    const T raised = t <= black ? black : t;
    out[i] = raised > white ? white : raised;
  }
}

}  // namespace

Value build(Builder& b, Value in, const Params& p) {
  const NominalRange nominal = nominal_range(b.info(in).desc.dtype);
  const double black = p.to.empty() ? nominal.black : p.to[0], white = p.to.empty() ? nominal.white : p.to[1];
  ReduceOp reduce;
  reduce.kind = ReduceOp::Kind::quantiles;
  const int low_index = p.low.percent ? 0 : -1, high_index = p.high.percent ? (p.low.percent ? 1 : 0) : -1;
  if (p.low.percent) reduce.fractions.push_back(p.low.value / 100);
  if (p.high.percent) reduce.fractions.push_back(p.high.value / 100);
  std::optional<Scalars> scalars;
  if (!reduce.fractions.empty()) scalars = b.reduce(in, std::move(reduce));
  PixelOp op;
  op.flops = 14;
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    Op<T> k{T(p.low.value), T(p.high.value), T(black) + T(0), T(white) + T(0), T(0), low_index, high_index};
    k.prepare();
    op.cpu = [k](const PixelRow& r) {
      const T low = k.low_index < 0 ? k.low : T(r.scalars[k.low_index]);
      const T high = k.high_index < 0 ? k.high : T(r.scalars[k.high_index]);
      row(r.in<T>(), r.out<T>(), r.count, low, high, k.black, k.white);
    };
    op.device = device_code("filters/reduction/normalize/normalize.cuh",
                            std::string("normalize::Op<") + c_name(b.compute(in)) + ">", k);
  });
  return b.pixel({in}, std::move(op), false, scalars);
}

FilterSpec spec() {
  return declare(
      "reduction",
      Filter<Params>{
          .name = "normalize",
          .summary = "Stretch a range of intensities to the full range.",
          .kind = Kind::reduction,
          .params = {field("low", &Params::low, "", "Becomes black: a value, or a percentage of the pixels."),
                     field("high", &Params::high, "", "Becomes white: a value, or a percentage of the pixels."),
                     field("to", &Params::to, "",
                           "[min, max] of the result; the nominal range of the dtype when left out.")},
          .result = "that of the image",
          .formula = "black + (v - low) * ((white - black) / (high - low)), limited to the range. Percentages are "
                     "quantiles, linear between order statistics, over all colours together (alpha and NaN left out). "
                     "A constant image becomes black; where both limits are one, what lies above is white.",
          .validate =
              [](const Params& p, bool) {
                if (!p.to.empty() && (p.to.size() != 2 || p.to[0] >= p.to[1]))
                  throw std::invalid_argument("to must be [min, max] with min below max");
                if (p.low.percent == p.high.percent && p.low.value >= p.high.value)
                  throw std::invalid_argument("low must be below high");
              },
          .build = [](Builder& b, const StepInputs& in, const Params& p) { return build(b, in.image, p); },
          .examples = {"{low: 0.5%, high: 99.5%}", "{low: 10, high: 90%}", "{to: [10, 20]}", "{low: 5, high: 60}"},
      });
}

}  // namespace imgpipe::normalize
