#include "filters/pixel/rescale/rescale.h"

#include <cmath>

#include "filters/base/pixel.h"
#include "filters/pixel/rescale/rescale.cuh"

namespace imgpipe::rescale {
namespace {

template <class T>
IMGPIPE_CLONES void divide_row(const T* in, T* out, std::int64_t n, T black, T range) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = (in[i] - black) / range;
}

template <class T>
IMGPIPE_CLONES void scale_row(const T* in, T* out, std::int64_t n, T black_in, T scale, T black_out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = std::fma(in[i] - black_in, scale, black_out);
}

const char* header = "filters/pixel/rescale/rescale.cuh";

PixelOp to_float(Compute compute, const NominalRange& from) {
  return unary_op(
      compute, header, "rescale::ToFloat", 10,
      [&](auto t) {
        return ToFloat<decltype(t)>{decltype(t)(from.black), decltype(t)(from.white - from.black)};
      },
      [](auto* i, auto* o, std::int64_t n, const auto& k) { divide_row(i, o, n, k.black, k.range); });
}

PixelOp to_integer(Compute compute, const NominalRange& from, const NominalRange& to) {
  const double scale = (to.white - to.black) / (from.white - from.black);
  return unary_op(
      compute, header, "rescale::ToInteger", 2,
      [&](auto t) {
        return ToInteger<decltype(t)>{decltype(t)(from.black), decltype(t)(scale), decltype(t)(to.black)};
      },
      [](auto* i, auto* o, std::int64_t n, const auto& k) { scale_row(i, o, n, k.black_in, k.scale, k.black_out); });
}

}  // namespace

Value build(Builder& b, Value in, DType to) {
  const NominalRange from = nominal_range(b.info(in).desc.dtype), target = nominal_range(to);
  // Compute in the wider of both types, so that 32-bit results keep their bits.
  const Value wide = compute_type(to) == Compute::f64 ? b.with_compute(in, Compute::f64) : in;
  PixelOp op = is_float(to) ? to_float(b.compute(wide), from) : to_integer(b.compute(wide), from, target);
  return b.cast(b.pixel({wide}, std::move(op)), to);
}

FilterSpec spec() {
  return declare(
      "pixel", Filter<Params>{
                   .name = "rescale",
                   .summary = "Change the dtype and map nominal range to nominal range.",
                   .kind = Kind::pixel,
                   .params = {required(field("to", &Params::to, "", "The new dtype."))},
                   .main_param = "to",
                   .result = "`to`",
                   .formula = "(v - black) / (white - black) of the old range, scaled to the new one: uint8 v becomes "
                              "uint16 257 v, or float v / 255. Alpha is mapped to the new white.",
                   .build = [](Builder& b, const StepInputs& in, const Params& p) { return build(b, in.image, p.to); },
                   .examples = {"uint8", "uint16", "float32", "int32"},
               });
}

}  // namespace imgpipe::rescale
