#include "filters/linear/correlate1d/correlate1d.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "filters/base/footprint.h"
#include "filters/linear/taps.h"

namespace imgpipe::correlate1d {
namespace {

template <class T>
void filter(const Window& window, int axis, const std::vector<T>& w, int low) {
  const Plane<const T> in = window.in<T>();
  const Plane<T> out = window.out<T>();
  const std::int64_t step = axis == 0 ? 1 : axis == 1 ? in.pitch : in.plane;
  for (std::int64_t z = 0; z < window.depth; ++z)
    for (std::int64_t y = 0; y < window.height; ++y)
      for (std::int64_t x = 0; x < window.width; x += tap_block) {
        const std::int64_t count = std::min(tap_block, window.width - x);
        T* sums = out.row(y, z) + x;
        std::fill_n(sums, count, T(-0.0));
        add_taps(in.row(y, z) + x - low * step, step, w.data(), static_cast<int>(w.size()), sums, count);
      }
}

}  // namespace

Value build(Builder& b, Value in, Axis axis, const std::vector<double>& taps, int low, const Options& options) {
  const int high = static_cast<int>(taps.size()) - 1 - low, a = static_cast<int>(axis);
  if (static_cast<int>(taps.size()) > most_taps)
    throw std::invalid_argument("a window of " + std::to_string(taps.size()) + " pixels is too long: at most " +
                                std::to_string(most_taps) + " along an axis");
  if (axis == Axis::z && !b.info(in).desc.volume)
    throw std::invalid_argument("axis z needs a volume, and this image is 2D");
  WindowOp op;
  op.border = b.border();
  op.halo = Halo::along(a, low, high);
  op.constant = options.constant.value_or(b.constant());
  op.filters_alpha = options.filters_alpha;
  op.flops = static_cast<double>(taps.size()) + 4;
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    const std::vector<T> w(taps.begin(), taps.end());
    op.cpu = [w, a, low](const Window& window) { filter(window, a, w, low); };
    op.device = device_array<T>("filters/linear/correlate1d/correlate1d.cuh",
                                std::string("correlate1d::Op<") + c_name(b.compute(in)) + ", " + std::to_string(a) +
                                    ", " + std::to_string(low) + ", " + std::to_string(high) + ">",
                                w);
  });
  return b.window(in, std::move(op));
}

namespace {

void validate(const Params& p, bool) {
  const int taps = static_cast<int>(p.kernel.size()), low = taps / 2 + p.origin;
  if (taps == 0) throw std::invalid_argument("kernel: must have at least one weight");
  if (low < 0 || low >= taps)
    throw std::invalid_argument("origin: must keep the anchor inside the kernel: in [" + std::to_string(-(taps / 2)) +
                                ", " + std::to_string(taps - 1 - taps / 2) + "] for " + std::to_string(taps) +
                                " weights, got " + std::to_string(p.origin));
}

Value build_step(Builder& b, const StepInputs& in, const Params& p) {
  return build(b, in.image, p.axis, p.kernel, static_cast<int>(p.kernel.size()) / 2 + p.origin);
}

}  // namespace

FilterSpec spec() {
  return declare(
      "linear",
      Filter<Params>{
          .name = "correlate1d",
          .summary = "Correlate one axis with a list of weights.",
          .kind = Kind::neighbourhood,
          .params = {required(field("kernel", &Params::kernel, "", "Weights, from the lowest coordinate up.")),
                     field("axis", &Params::axis, "", "Axis that the weights lie along; z needs a volume."),
                     field("origin", &Params::origin, "px", "Shift of the anchor from the middle weight, len / 2.")},
          .main_param = "kernel",
          .result = "that of the image",
          .formula = "out(i) = sum over k of kernel[k] * in(i + k - len/2 - origin), k ascending, one fused "
                     "multiply-add a weight. The kernel is not flipped (as scipy.ndimage.correlate1d). Alpha is left "
                     "alone.",
          .validate = validate,
          .build = build_step,
          .examples = {"[1, 2, 3]", "{kernel: [0.25, -1.5, 0.5, 2], axis: y, origin: 1}"},
      });
}

}  // namespace imgpipe::correlate1d
