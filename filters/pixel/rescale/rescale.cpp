#include "filters/pixel/rescale/rescale.h"

#include <cmath>

#include "filters/base/pixel.h"
#include "filters/pixel/rescale/rescale.cuh"

namespace imgpipe::rescale {
namespace {

template <class T>
IMGPIPE_CLONES void row(const T* in, T* out, std::int64_t n, T black_in, T range_in, T black_out, T range_out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = std::fma((in[i] - black_in) / range_in, range_out, black_out);
}

}  // namespace

Value build(Builder& b, Value in, DType to) {
  const NominalRange from = nominal_range(b.info(in).desc.dtype), target = nominal_range(to);
  // Compute in the wider of both types, so that 32-bit results keep their bits.
  const Value wide = compute_type(to) == Compute::f64 ? b.with_compute(in, Compute::f64) : in;
  const Value scaled = b.pixel({wide}, unary_op(b.compute(wide), "filters/pixel/rescale/rescale.cuh", "rescale::Op", 10,
      [&](auto t) {
        using T = decltype(t);
        return Op<T>{T(from.black), T(from.white - from.black), T(target.black), T(target.white - target.black)};
      },
      [](auto* i, auto* o, std::int64_t n, const auto& k) { row(i, o, n, k.black_in, k.range_in, k.black_out, k.range_out); }));
  return b.cast(scaled, to);
}

FilterSpec spec() {
  return declare("pixel", Filter<Params>{
      .name = "rescale",
      .summary = "Change the dtype and map nominal range to nominal range.",
      .kind = Kind::pixel,
      .params = {required(field("to", &Params::to, "", "The new dtype."))},
      .main_param = "to",
      .result = "`to`",
      .formula = "(v - black) / (white - black) of the old range, scaled to the new one: uint8 v becomes uint16 257 v, or float v / 255.",
      .build = [](Builder& b, const StepInputs& in, const Params& p) { return build(b, in.image, p.to); },
      .examples = {"uint8", "uint16", "float32", "int32"},
  });
}

}  // namespace imgpipe::rescale
