#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/passes.cuh"

namespace imgpipe::sobel {

/// 4 x 2 outputs a thread from 6 x 4 samples; in volumes 4 x 1, walking up z. A column of the window at one x is kept
/// as what the x passes need of it: smoothed over y (and z), its y derivative and its z derivative. OUTPUT: 0
/// magnitude, 1 x, 2 y, 3 z.
template <class T, int OUTPUT, bool VOLUME>
struct Op {
  static constexpr int n = 4, m = VOLUME ? 1 : 2, w = n + 2;

  static IMGPIPE_FN T smooth(T a, T b, T c) { return maths::fma(T(2), b, a) + c; }

  /// The column whose middle is v[1], by y.
  struct Column {
    T smooth_y, d_y;
  };
  static IMGPIPE_FN Column column(const T* v, int step) {
    return {smooth(v[0], v[step], v[2 * step]), v[2 * step] - v[0]};
  }

  /// Outputs of one row from the columns' three parts.
  template <class R, class Sink>
  static IMGPIPE_FN void row(const Sink& sink, int x, int y, int z, const T (&s)[w], const T (&dy)[w],
                             const T (&dz)[w]) {
    T out[n];
    IMGPIPE_UNROLL
    for (int j = 0; j < n; ++j) {
      const T gx = s[j + 2] - s[j], gy = smooth(dy[j], dy[j + 1], dy[j + 2]);
      T gz = T(0);
      if constexpr (VOLUME) gz = smooth(dz[j], dz[j + 1], dz[j + 2]);
      T sum = maths::fma(gy, gy, gx * gx);
      if constexpr (VOLUME) sum = maths::fma(gz, gz, sum);
      out[j] = OUTPUT == 1 ? gx : OUTPUT == 2 ? gy : OUTPUT == 3 ? gz : maths::sqrt(sum);
    }
    passes::write_row<R, n>(sink, x, y, z, out);
  }

  template <class R, class G, class In>
  static IMGPIPE_FN void read(const In& in, int x, int y, int z, T (&rows)[m + 2][w]) {
    IMGPIPE_UNROLL
    for (int r = 0; r < m + 2; ++r) {
      int at = y + r - 1;
      if constexpr (R::height % m != 0) at = at < R::y1 + 1 ? at : R::y1;
      T q[12];
      passes::read_quads<R, 1, 1, -4, 3, G::exact>(in.row(at, z), x, q);
      IMGPIPE_UNROLL
      for (int j = 0; j < w; ++j) rows[r][j] = q[3 + j];
    }
  }

  template <class R, class Sink>
  static IMGPIPE_FN void flat(const Sink& sink, int x, int y, int z, const T (&rows)[m + 2][w]) {
    IMGPIPE_UNROLL
    for (int r = 0; r < m; ++r) {
      if (y + r >= R::y1) break;
      T s[w], d[w];
      IMGPIPE_UNROLL
      for (int j = 0; j < w; ++j) {
        const Column c = column(&rows[r][j], w);
        s[j] = c.smooth_y;
        d[j] = c.d_y;
      }
      row<R>(sink, x, y + r, z, s, d, d);
    }
  }

  /// Outputs begin <= z < end; the last three planes' columns stay in registers.
  template <class R, class G, class In, class Sink>
  static IMGPIPE_FN void walk(const In& in, const Sink& sink, int x, int y, int begin, int end) {
    T s[3][m][w] = {}, d[3][m][w] = {};
    for (int z = begin - 1; z <= end; ++z) {
      T rows[m + 2][w];
      read<R, G>(in, x, y, z, rows);
      IMGPIPE_UNROLL
      for (int r = 0; r < m; ++r) {
        IMGPIPE_UNROLL
        for (int j = 0; j < w; ++j) {
          const Column c = column(&rows[r][j], w);
          s[0][r][j] = s[1][r][j];
          s[1][r][j] = s[2][r][j];
          s[2][r][j] = c.smooth_y;
          d[0][r][j] = d[1][r][j];
          d[1][r][j] = d[2][r][j];
          d[2][r][j] = c.d_y;
        }
      }
      if (z <= begin) continue;
      IMGPIPE_UNROLL
      for (int r = 0; r < m; ++r) {
        if (y + r >= R::y1) break;
        T a[w], b[w], c[w];
        IMGPIPE_UNROLL
        for (int j = 0; j < w; ++j) {
          a[j] = smooth(s[0][r][j], s[1][r][j], s[2][r][j]);
          b[j] = smooth(d[0][r][j], d[1][r][j], d[2][r][j]);
          c[j] = s[2][r][j] - s[0][r][j];
        }
        row<R>(sink, x, y + r, z - 1, a, b, c);
      }
    }
  }

  /// How far one thread walks: as far as leaves enough threads for a block.
  template <class R, int THREADS>
  static IMGPIPE_FN constexpr int walk_length(int patches) {
    int length = R::depth;
    while (length > 1 && patches * passes::rounds(R::depth, length) < THREADS) --length;
    return length;
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R, const Sink& sink) const {
    using G = passes::RowGroups<R, n>;
    constexpr int stacks = passes::rounds(R::height, m);
    constexpr int length = VOLUME ? walk_length<R, Block::threads>(G::count * stacks) : 1,
                  walks = passes::rounds(R::depth, length);
    for_items<G::count, stacks, walks>(block, [&](int group, int stack, int part) {
      const int x = group * n + G::first, y = stack * m + R::y0, z = part * length + R::z0;
      if constexpr (VOLUME) {
        walk<R, G>(in, sink, x, y, z, z + length < R::z1 ? z + length : R::z1);
      } else {
        T rows[m + 2][w];
        read<R, G>(in, x, y, z, rows);
        flat<R>(sink, x, y, z, rows);
      }
    });
  }
};

}  // namespace imgpipe::sobel
