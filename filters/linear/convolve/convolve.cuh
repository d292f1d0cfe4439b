#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/passes.cuh"

namespace imgpipe::convolve {

/// Weights z slowest, x fastest, one fused multiply-add each; adding to -0 keeps the sign of a first product of -0.
template <class T, int X, int Y, int Z>
struct Op {
  static constexpr int low_x = X / 2, low_y = Y / 2, low_z = Z / 2, high_x = X - 1 - low_x, high_y = Y - 1 - low_y;
  static constexpr int n = 8, rows = Y * Z, unrolled_weights = 81;
  T weights[X * Y * Z];

  template <int N>
  IMGPIPE_FN void add_row(int row, const T (&v)[N + X - 1], T (&out)[N]) const {
    IMGPIPE_UNROLL
    for (int k = 0; k < X; ++k) {
      IMGPIPE_UNROLL
      for (int j = 0; j < N; ++j) out[j] = maths::fma(weights[row * X + k], v[j + k], out[j]);
    }
  }

  /// 8 outputs side by side; rows come through registers one by one.
  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void by_rows(const Block& block, const In& in, R, const Sink& sink) const {
    using G = passes::RowGroups<R, n>;
    constexpr int left = passes::up4(low_x), quads = (left + n + passes::up4(high_x)) / 4;
    for_items<R::height, G::count, R::depth>(block, [&](int line, int group, int slice) {
      const int x = group * n + G::first, y = line + R::y0, z = slice + R::z0;
      T out[n];
      IMGPIPE_UNROLL
      for (int j = 0; j < n; ++j) out[j] = T(-0.0);
      const auto row = [&](int r) {
        T q[4 * quads], v[n + X - 1];
        const T* from = in.row(y + r % Y - low_y, z + r / Y - low_z);
        passes::read_quads<R, low_x, high_x, -left, quads, G::exact>(from, x, q);
        IMGPIPE_UNROLL
        for (int j = 0; j < n + X - 1; ++j) v[j] = q[left - low_x + j];
        add_row<n>(r, v, out);
      };
      if constexpr (X * rows <= unrolled_weights) {
        IMGPIPE_UNROLL
        for (int r = 0; r < rows; ++r) row(r);
      } else {
        for (int r = 0; r < rows; ++r) row(r);
      }
      passes::write_row<R, n>(sink, x, y, z, out);
    });
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void by_pixels(const Block& block, const In& in, R, const Sink& sink) const {
    for_pixels<R>(block, [&](int x, int y, int z) {
      T sum = T(-0.0);
      for (int r = 0; r < rows; ++r) {
        const T* from = in.row(y + r % Y - low_y, z + r / Y - low_z) + x - low_x;
        for (int k = 0; k < X; ++k) sum = maths::fma(weights[r * X + k], from[k], sum);
      }
      sink.one(x, y, z, sum);
    });
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    if constexpr (X <= passes::register_taps)
      by_rows(block, in, region, sink);
    else
      by_pixels(block, in, region, sink);
  }
};

}  // namespace imgpipe::convolve
