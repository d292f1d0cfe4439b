#include "filters/pixel/gamma/gamma.h"

#include "filters/base/pixel.h"
#include "filters/pixel/gamma/gamma.cuh"

namespace imgpipe::gamma {
namespace {

template <class T>
IMGPIPE_CLONES void row(const T* in, T* out, std::int64_t n, T exponent, T white, T inverse) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T power = white * maths::pow_magnitude(maths::abs(in[i]) * inverse, exponent);
    out[i] = maths::with_sign_of(power, in[i]);
  }
}

}  // namespace

Value build(Builder& b, Value in, double gamma) {
  const double white = nominal_range(b.info(in).desc.dtype).white;
  return b.pixel(
      {in}, unary_op(
                b.compute(in), "filters/pixel/gamma/gamma.cuh", "gamma::Op", 60,
                [&](auto t) {
                  return Op<decltype(t)>{decltype(t)(gamma), decltype(t)(white), decltype(t)(1 / white)};
                },
                [](auto* i, auto* o, std::int64_t n, const auto& k) { row(i, o, n, k.exponent, k.white, k.inverse); }));
}

FilterSpec spec() {
  return declare(
      "pixel",
      Filter<Params>{
          .name = "gamma",
          .summary = "Raise values to a power on the nominal range.",
          .kind = Kind::pixel,
          .params = {required(field("gamma", &Params::gamma, Range{1e-3, 1e3}, "", "Exponent; below 1 brightens."))},
          .main_param = "gamma",
          .result = "that of the image",
          .formula = "white * (|v| / white)^gamma with the sign of v, within 2.3 ulp for float32 and gamma below 4; "
                     "white is 255, 65535, …, or 1.0 for floats.",
          .build = [](Builder& b, const StepInputs& in, const Params& p) { return build(b, in.image, p.gamma); },
          .examples = {"0.8", "2.2"},
      });
}

}  // namespace imgpipe::gamma
