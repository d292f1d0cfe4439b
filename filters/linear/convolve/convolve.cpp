#include "filters/linear/convolve/convolve.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "filters/base/footprint.h"
#include "filters/linear/taps.h"

namespace imgpipe::convolve {
namespace {

template <class T>
void filter(const Window& w, const std::array<int, 3>& size, const std::vector<T>& weights) {
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y)
      for (std::int64_t x = 0; x < w.width; x += tap_block) {
        const std::int64_t count = std::min(tap_block, w.width - x);
        T* sums = w.out<T>().row(y, z) + x;
        std::fill_n(sums, count, T(-0.0));
        const T* row = weights.data();
        for (int kz = 0; kz < size[2]; ++kz)
          for (int ky = 0; ky < size[1]; ++ky, row += size[0])
            add_taps(w.in<T>().row(y + ky - size[1] / 2, z + kz - size[2] / 2) + x - size[0] / 2, 1, row, size[0], sums,
                     count);
      }
}

Kernel normalized(Kernel kernel) {
  const double sum = std::accumulate(kernel.values.begin(), kernel.values.end(), 0.0);
  if (sum == 0) throw std::invalid_argument("normalize: the kernel's weights sum up to 0, so they cannot sum up to 1");
  for (double& w : kernel.values) w /= sum;
  return kernel;
}

void validate(const Params& p, bool) {
  if (p.kernel.values.size() > most_weights)
    throw std::invalid_argument("kernel: has " + std::to_string(p.kernel.values.size()) + " weights, and at most " +
                                std::to_string(most_weights) + " are possible");
  if (p.normalize) normalized(p.kernel);
}

}  // namespace

Value build(Builder& b, Value in, const Kernel& kernel) {
  const std::array<int, 3>& size = kernel.size;
  if (size[2] > 1 && !b.info(in).desc.volume)
    throw std::invalid_argument("a kernel with planes needs a volume, and this image is 2D");
  WindowOp op;
  op.border = b.border();
  op.halo = reach_of({}, size, true);
  op.constant = b.constant();
  op.flops = static_cast<double>(kernel.values.size()) + 4;
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    const std::vector<T> weights(kernel.values.begin(), kernel.values.end());
    op.cpu = [size, weights](const Window& w) { filter(w, size, weights); };
    op.device = device_array<T>("filters/linear/convolve/convolve.cuh",
                                std::string("convolve::Op<") + c_name(b.compute(in)) + ", " + std::to_string(size[0]) +
                                    ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]) + ">",
                                weights);
  });
  return b.window(in, std::move(op));
}

FilterSpec spec() {
  return declare(
      "linear",
      Filter<Params>{
          .name = "convolve",
          .summary = "Correlate with a kernel written as a list of rows.",
          .kind = Kind::neighbourhood,
          .params = {required(field("kernel", &Params::kernel, "",
                                    "Rows of weights, [[...], [...]]; planes of rows for volumes; one row for 1D.")),
                     field("normalize", &Params::normalize, "", "Divide the weights by their sum.")},
          .main_param = "kernel",
          .result = "that of the image",
          .formula =
              "out(i) = sum over k of kernel(k) * in(i + k - size/2), rows and planes in the order written, one "
              "fused multiply-add a weight, zeros included. The kernel is not flipped (as scipy.ndimage.correlate "
              "and OpenCV's filter2D). Channels apart; alpha is left alone.",
          .validate = validate,
          .build = [](Builder& b, const StepInputs& in,
                      const Params& p) { return build(b, in.image, p.normalize ? normalized(p.kernel) : p.kernel); },
          .examples = {"[[1, 2, 3], [4, 5, 6], [7, 8, 9]]", "[0.5, -1, 0, 2]",
                       "{kernel: [[1, 1, 1, 1, 1], [1, 0, 0, 0, 1]], normalize: true}"},
      });
}

}  // namespace imgpipe::convolve
