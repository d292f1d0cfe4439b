#include "filters/linear/unsharp/unsharp.h"

#include <cmath>
#include <limits>

#include "filters/linear/gaussian/gaussian.h"
#include "filters/linear/unsharp/unsharp.cuh"

namespace imgpipe::unsharp {
namespace {

template <class T>
IMGPIPE_CLONES void row(const T* in, const T* blurred, T* out, std::int64_t count, T amount, T threshold) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T detail = in[i] - blurred[i];
    const T sharp = std::fma(amount, detail, in[i]);
    out[i] = std::fabs(detail) < threshold ? in[i] : sharp;
  }
}

}  // namespace

Value build(Builder& b, Value in, const Params& p) {
  const Value blurred = gaussian::build(b, in, p.sigma);
  PixelOp op;
  op.flops = 4;
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    const T amount = T(p.amount), threshold = T(p.threshold);
    op.cpu = [amount, threshold](const PixelRow& r) {
      row(r.in<T>(0), r.in<T>(1), r.out<T>(), r.count, amount, threshold);
    };
    op.device = device_code("filters/linear/unsharp/unsharp.cuh",
                            std::string("unsharp::Op<") + c_name(b.compute(in)) + ">", Op<T>{amount, threshold});
  });
  return b.pixel({in, blurred}, std::move(op));
}

FilterSpec spec() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return declare(
      "linear",
      Filter<Params>{
          .name = "unsharp",
          .summary = "Sharpen: add what a Gaussian blur takes away.",
          .kind = Kind::composite,
          .params = {field("sigma", &Params::sigma, Range{0, 1e6}, "px", "Standard deviation of the blur."),
                     field("amount", &Params::amount, "", "Factor of the added detail; negative softens."),
                     field("threshold", &Params::threshold, Range{0, infinity}, "",
                           "Pixels with less detail than this, in native values, stay as they are.")},
          .main_param = "sigma",
          .result = "that of the image",
          .formula =
              "d = v - gaussian(v, sigma); v + amount * d where |d| >= threshold, else v. One fused multiply-add "
              "a channel; alpha is left alone.",
          .build = [](Builder& b, const StepInputs& in, const Params& p) { return build(b, in.image, p); },
          .examples = {"{sigma: 1.5, amount: 1.5}", "{sigma: 0.8, amount: 0.7, threshold: 3}"},
      });
}

}  // namespace imgpipe::unsharp
