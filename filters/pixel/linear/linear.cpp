#include "filters/pixel/linear/linear.h"

#include <cmath>

#include "filters/pixel/linear/linear.cuh"

namespace imgpipe::linear {
namespace {

template <class T>
IMGPIPE_CLONES void row(const T* in, T* out, std::int64_t count, T gain, T offset) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = std::fma(in[i], gain, offset);
}

}  // namespace

Value build(Builder& b, Value in, double gain, double offset) {
  PixelOp op;
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    const T g = T(gain), o = T(offset);
    op.cpu = [g, o](const PixelRow& r) { row(r.in<T>(), r.out<T>(), r.count, g, o); };
    op.device = device_code("filters/pixel/linear/linear.cuh", std::string("linear::Op<") + c_name(b.compute(in)) + ">",
                            Op<T>{g, o});
  });
  return b.pixel({in}, std::move(op));
}

FilterSpec spec() {
  return declare("pixel",
                 Filter<Params>{
                     .name = "linear",
                     .summary = "Multiply by a gain and add an offset.",
                     .kind = Kind::pixel,
                     .params = {field("gain", &Params::gain, "", "Factor."),
                                field("offset", &Params::offset, "", "Added after the gain, in native values.")},
                     .main_param = "gain",
                     .result = "that of the image",
                     .formula = "v * gain + offset, rounded once (one fused multiply-add).",
                     .build = [](Builder& b, const StepInputs& in,
                                 const Params& p) { return build(b, in.image, p.gain, p.offset); },
                     .examples = {"{gain: 1.7, offset: -3.25}"},
                 });
}

}  // namespace imgpipe::linear
