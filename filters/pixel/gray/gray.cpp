#include "filters/pixel/gray/gray.h"

#include <cmath>
#include <stdexcept>

#include "filters/pixel/gray/gray.cuh"

namespace imgpipe {
template <>
struct EnumNames<gray::Weights> {
  static constexpr std::string_view value[] = {"rec601", "rec709"};
};
}  // namespace imgpipe

namespace imgpipe::gray {
namespace {

template <class T>
IMGPIPE_CLONES void row(const T* r, const T* g, const T* b, T* out, std::int64_t n, T red, T green, T blue) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = std::fma(blue, b[i], std::fma(green, g[i], red * r[i]));
}

}  // namespace

Value build(Builder& b, Value in, Weights weights) {
  const ImageDesc& desc = b.info(in).desc;
  const int colours = b.info(in).colours(), channels = desc.channels;
  if (colours == 1) return in;
  if (colours != 3)
    throw std::invalid_argument("needs an RGB or RGBA image, this one has " + std::to_string(channels) + " channels");
  const bool old = weights == Weights::rec601;
  PixelOp op;
  op.flops = 5;
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    const T red = T(old ? 0.299 : 0.2126), green = T(old ? 0.587 : 0.7152), blue = T(old ? 0.114 : 0.0722);
    op.cpu = [=](const PixelRow& r) {
      const T* alpha = channels == 4 ? r.in<T>(0, 3) : nullptr;
      row(r.in<T>(0, 0), r.in<T>(0, 1), r.in<T>(0, 2), r.out<T>(0), r.count, red, green, blue);
      if (alpha) std::memcpy(r.out<T>(1), alpha, r.count * sizeof(T));
    };
    const std::string type = std::string("gray::Op<") + c_name(b.compute(in)) + ", " + std::to_string(channels) + ">";
    op.device = device_code("filters/pixel/gray/gray.cuh", type, Op<T, 3>{red, green, blue});
  });
  return b.pixel_to({in}, std::move(op), channels - 2, desc.alpha);
}

FilterSpec spec() {
  return declare("pixel", Filter<Params>{
                              .name = "gray",
                              .summary = "Turn colour into gray.",
                              .kind = Kind::pixel,
                              .params = {field("weights", &Params::weights, "",
                                               "rec601 as OpenCV and Pillow have it, or rec709 as video has it.")},
                              .main_param = "weights",
                              .result = "that of the image, one channel (and alpha)",
                              .formula = "0.299 R + 0.587 G + 0.114 B (rec601) or 0.2126 R + 0.7152 G + 0.0722 B "
                                         "(rec709), rounded once. Gray images pass.",
                              .build = [](Builder& b, const StepInputs& in,
                                          const Params& p) { return build(b, in.image, p.weights); },
                              .examples = {"rec709"},
                          });
}

}  // namespace imgpipe::gray
