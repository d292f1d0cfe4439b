#include "filters/pixel/window/window.h"

#include <cmath>
#include <stdexcept>

#include "filters/base/pixel.h"
#include "filters/pixel/window/window.cuh"

namespace imgpipe::window {
namespace {

template <class T>
IMGPIPE_CLONES void row(const T* in, T* out, std::int64_t n, T low, T width, T black, T range) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T t = (in[i] - low) / width;
    const T positive = t < T(0) ? T(0) : t;
    out[i] = std::fma(positive > T(1) ? T(1) : positive, range, black);
  }
}

}  // namespace

Value build(Builder& b, Value in, double low, double high) {
  const NominalRange nominal = nominal_range(b.info(in).desc.dtype);
  return b.pixel(
      {in},
      unary_op(
          b.compute(in), "filters/pixel/window/window.cuh", "window::Op", 12,
          [&](auto t) {
            using T = decltype(t);
            return Op<T>{T(low), T(T(high) - T(low)), T(nominal.black), T(nominal.white - nominal.black)};
          },
          [](auto* i, auto* o, std::int64_t n, const auto& k) { row(i, o, n, k.low, k.width, k.black, k.range); }));
}

FilterSpec spec() {
  return declare(
      "pixel",
      Filter<Params>{
          .name = "window",
          .summary = "Map a range of intensities to the full range of the dtype.",
          .kind = Kind::pixel,
          .params = {field("center", &Params::center, "", "Middle of the window, with `width`."),
                     field("width", &Params::width, Range{1e-300, 1e300}, "", "Width of the window, with `center`."),
                     field("low", &Params::low, "", "Value that becomes black, with `high`."),
                     field("high", &Params::high, "", "Value that becomes white, with `low`.")},
          .result = "that of the image",
          .formula = "clamp((v - low) / (high - low), 0, 1) scaled to the nominal range; low = center - width/2, high "
                     "= center + width/2.",
          .validate =
              [](const Params& p, bool) {
                const bool by_center = p.center && p.width && !p.low && !p.high,
                           by_ends = p.low && p.high && !p.center && !p.width;
                if (!by_center && !by_ends) throw std::invalid_argument("give {center, width} or {low, high}");
                if (by_ends && *p.low >= *p.high) throw std::invalid_argument("low must be below high");
              },
          .build =
              [](Builder& b, const StepInputs& in, const Params& p) {
                if (p.low) return build(b, in.image, *p.low, *p.high);
                return build(b, in.image, *p.center - *p.width / 2, *p.center + *p.width / 2);
              },
          .examples = {"{center: 40, width: 350}", "{low: 0.25, high: 100}"},
      });
}

}  // namespace imgpipe::window
