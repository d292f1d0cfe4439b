#include "filters/pixel/invert/invert.h"

#include "filters/base/pixel.h"
#include "filters/pixel/invert/invert.cuh"

namespace imgpipe::invert {
namespace {

template <class T>
IMGPIPE_CLONES void row(const T* in, T* out, std::int64_t n, T sum) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = sum - in[i];
}

}  // namespace

Value build(Builder& b, Value in) {
  const NominalRange nominal = nominal_range(b.info(in).desc.dtype);
  return b.pixel({in},
                 unary_op(
                     b.compute(in), "filters/pixel/invert/invert.cuh", "invert::Op", 1,
                     [&](auto t) { return Op<decltype(t)>{decltype(t)(nominal.black + nominal.white)}; },
                     [](auto* i, auto* o, std::int64_t n, const auto& k) { row(i, o, n, k.sum); }),
                 b.info(in).whole);
}

FilterSpec spec() {
  return declare("pixel",
                 Filter<Params>{
                     .name = "invert",
                     .summary = "Turn black into white and white into black.",
                     .kind = Kind::pixel,
                     .result = "that of the image",
                     .formula = "black + white - v: 255 - v, 65535 - v, 1 - v; signed integers -1 - v.",
                     .build = [](Builder& b, const StepInputs& in, const Params&) { return build(b, in.image); },
                 });
}

}  // namespace imgpipe::invert
