#include "filters/linear/sobel/sobel.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace imgpipe::sobel {
namespace {

template <class T>
inline __attribute__((always_inline)) T smooth(T before, T here, T after) {
  return std::fma(T(2), here, before) + after;
}

/// The derivative along x, y or z at p, rows and planes being `pitch` and `plane` apart.
template <class T>
inline __attribute__((always_inline)) T slope_x(const T* p, std::int64_t pitch) {
  return smooth(p[1 - pitch], p[1], p[1 + pitch]) - smooth(p[-1 - pitch], p[-1], p[-1 + pitch]);
}
template <class T>
inline __attribute__((always_inline)) T slope_y(const T* p, std::int64_t pitch) {
  return smooth(p[pitch - 1] - p[-pitch - 1], p[pitch] - p[-pitch], p[pitch + 1] - p[-pitch + 1]);
}

template <class T>
IMGPIPE_CLONES void flat_row(const T* in, std::int64_t pitch, T* out, std::int64_t count, Output output) {
  if (output == Output::x) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = slope_x(in + i, pitch);
  } else if (output == Output::y) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = slope_y(in + i, pitch);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const T gx = slope_x(in + i, pitch), gy = slope_y(in + i, pitch);
      out[i] = std::sqrt(std::fma(gy, gy, gx * gx));
    }
  }
}

/// Over y, then over z: a column of the 3 x 3 x 3 window.
template <class T>
inline __attribute__((always_inline)) T smooth_y(const T* p, std::int64_t pitch) {
  return smooth(p[-pitch], p[0], p[pitch]);
}
template <class T>
inline __attribute__((always_inline)) T smooth_yz(const T* p, std::int64_t pitch, std::int64_t plane) {
  return smooth(smooth_y(p - plane, pitch), smooth_y(p, pitch), smooth_y(p + plane, pitch));
}
template <class T>
inline __attribute__((always_inline)) T slope_y_smooth_z(const T* p, std::int64_t pitch, std::int64_t plane) {
  return smooth(p[pitch - plane] - p[-pitch - plane], p[pitch] - p[-pitch], p[pitch + plane] - p[-pitch + plane]);
}
template <class T>
inline __attribute__((always_inline)) T slope_z_smooth_y(const T* p, std::int64_t pitch, std::int64_t plane) {
  return smooth_y(p + plane, pitch) - smooth_y(p - plane, pitch);
}

template <class T>
IMGPIPE_CLONES void volume_row(const T* in, std::int64_t pitch, std::int64_t plane, T* out, std::int64_t count,
                               Output output) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T* p = in + i;
    const T gx = smooth_yz(p + 1, pitch, plane) - smooth_yz(p - 1, pitch, plane);
    const T gy = smooth(slope_y_smooth_z(p - 1, pitch, plane), slope_y_smooth_z(p, pitch, plane),
                        slope_y_smooth_z(p + 1, pitch, plane));
    const T gz = smooth(slope_z_smooth_y(p - 1, pitch, plane), slope_z_smooth_y(p, pitch, plane),
                        slope_z_smooth_y(p + 1, pitch, plane));
    const T magnitude = std::sqrt(std::fma(gz, gz, std::fma(gy, gy, gx * gx)));
    out[i] = output == Output::x ? gx : output == Output::y ? gy : output == Output::z ? gz : magnitude;
  }
}

template <class T>
void filter(const Window& w, bool volume, Output output) {
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y) {
      const T* in = w.in<T>().row(y, z);
      T* out = w.out<T>().row(y, z);
      if (volume)
        volume_row(in, w.in_pitch, w.in_plane, out, w.width, output);
      else
        flat_row(in, w.in_pitch, out, w.width, output);
    }
}

}  // namespace

Value build(Builder& b, Value in, Output output) {
  const bool volume = b.info(in).desc.volume;
  if (output == Output::z && !volume) throw std::invalid_argument("axis z needs a volume, and this image is 2D");
  WindowOp op;
  op.halo = Halo::uniform(1, volume);
  op.border = b.border();
  op.constant = b.constant();
  op.flops = volume ? 60 : 16;
  if (volume) op.resident = 3;  // three planes of columns stay in registers
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    op.cpu = [volume, output](const Window& w) { filter<T>(w, volume, output); };
  });
  op.device = {"filters/linear/sobel/sobel.cuh",
               std::string("sobel::Op<") + c_name(b.compute(in)) + ", " + std::to_string(static_cast<int>(output)) +
                   (volume ? ", true>" : ", false>"),
               std::vector<std::byte>(1),
               {}};
  return b.retype(b.window(in, std::move(op)), dtype_of(b.compute(in)));
}

FilterSpec spec() {
  return declare(
      "linear",
      Filter<Params>{
          .name = "sobel",
          .summary = "Edge strength: the magnitude of the Sobel derivatives, or one of them.",
          .kind = Kind::neighbourhood,
          .params = {field("axis", &Params::axis, "",
                           "magnitude, or the signed derivative along one axis; z needs a volume.")},
          .main_param = "axis",
          .result = "float32 (float64 for 32-bit integers and float64): derivatives are signed",
          .formula = "[-1 0 1] along the axis and [1 2 1] along the others, not normalised: a step of h gives 4 h in "
                     "2D and 16 h in 3D. The magnitude is sqrt(gx^2 + gy^2 (+ gz^2)), summed in that order. Passes "
                     "go along y, then z, then x; smoothing is (a + 2 b) + c. Kernels are correlated, as in OpenCV "
                     "and scipy.ndimage. Channels apart; alpha is left alone.",
          .build = [](Builder& b, const StepInputs& in, const Params& p) { return build(b, in.image, p.axis); },
          .examples = {"x", "{axis: y}"},
      });
}

}  // namespace imgpipe::sobel
