#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/order.cuh"
#include "filters/base/passes.cuh"

namespace imgpipe::median {

/// For each patch of N x M outputs, one a thread: f(read, x, y, z), where read(dy, v) gets the N + 2 REACH samples of
/// row y + dy. Neighbouring threads take patches that are neighbours along x, which keeps 16-byte reads off each
/// other's banks.
template <class T, int REACH, int N, int M, class Block, class In, class R, class F>
IMGPIPE_FN void for_patches(const Block& block, const In& in, R, const F& f) {
  using G = passes::RowGroups<R, N>;
  constexpr int left = passes::up4(REACH), quads = (left + N + left) / 4, stacks = passes::rounds(R::height, M);
  for (int i = block.first(); i < G::count * stacks * R::depth; i += block.stride()) {
    const int x = i % G::count * N + G::first, rest = i / G::count;
    const int y = rest % stacks * M + R::y0, z = rest / stacks + R::z0;
    const auto read = [&](int dy, T(&v)[N + 2 * REACH]) {
      int at = y + dy;
      if constexpr (R::height % M != 0) at = at < R::y1 + REACH ? at : R::y1 + REACH - 1;
      const T* row = in.row(at, z);
      T q[4 * quads];
      passes::read_quads<R, REACH, REACH, -left, quads, G::exact>(row, x, q);
      IMGPIPE_UNROLL
      for (int j = 0; j < N + 2 * REACH; ++j) v[j] = q[left - REACH + j];
    };
    f(read, x, y, z);
  }
}

template <class R, int N, class Sink, class T>
IMGPIPE_FN void write(const Sink& sink, int x, int y, int z, T (&v)[N]) {
  IMGPIPE_UNROLL
  for (int j = 0; j < N; ++j) v[j] += T(0);
  if (y < R::y1) passes::write_row<R, N>(sink, x, y, z, v);
}

/// 3 x 3. Sorted pairs of rows are shared by the outputs on both rows, sorted columns by outputs beside each other.
template <class T>
struct Three {
  template <int N>
  static IMGPIPE_FN void row(const T (&columns)[N + 2][3], T (&out)[N]) {
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) {
      const auto &a = columns[j], &b = columns[j + 1], &c = columns[j + 2];
      out[j] = order::middle(order::most(order::most(a[0], b[0]), c[0]), order::middle(a[1], b[1], c[1]),
                             order::least(order::least(a[2], b[2]), c[2]));
    }
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    constexpr int n = 4, m = 4, w = n + 2;
    for_patches<T, 1, n, m>(block, in, region, [&](const auto& read, int x, int y, int z) {
      T rows[m + 2][w];
      IMGPIPE_UNROLL
      for (int r = 0; r < m + 2; ++r) read(r - 1, rows[r]);
      IMGPIPE_UNROLL
      for (int r = 1; r < m + 1; r += 2) {
        T pairs[w][2];
        IMGPIPE_UNROLL
        for (int j = 0; j < w; ++j) {
          pairs[j][0] = order::least(rows[r][j], rows[r + 1][j]);
          pairs[j][1] = order::most(rows[r][j], rows[r + 1][j]);
        }
        IMGPIPE_UNROLL
        for (int side = 0; side < 2; ++side) {
          T columns[w][3], out[n];
          IMGPIPE_UNROLL
          for (int j = 0; j < w; ++j) order::insert(pairs[j], rows[side == 0 ? r - 1 : r + 2][j], columns[j]);
          row<n>(columns, out);
          write<R, n>(sink, x, y + r - 1 + side, z, out);
        }
      }
    });
  }
};

/// 5 x 5. Columns are sorted once for both rows of a patch but for their ends; pairs of neighbouring columns are merged
/// once for four outputs, four columns once for two: the median of 25 is one of ranks 8 to 13 of those 20 or one of
/// the fifth column's.
template <class T>
struct Five {
  template <int N>
  static IMGPIPE_FN void row(const T (&columns)[N + 4][5], T (&out)[N]) {
    T pairs[N / 2 + 1][10];
    IMGPIPE_UNROLL
    for (int p = 0; p < N / 2 + 1; ++p) order::merge(columns[2 * p + 1], columns[2 * p + 2], pairs[p]);
    IMGPIPE_UNROLL
    for (int p = 0; p < N / 2; ++p) {
      T four[20];
      order::merge(pairs[p], pairs[p + 1], four);
      out[2 * p] = sixth(&four[7], columns[2 * p]);
      out[2 * p + 1] = sixth(&four[7], columns[2 * p + 5]);
    }
  }
  /// The sixth of two sorted lists of 6 and 5.
  static IMGPIPE_FN T sixth(const T* a, const T (&b)[5]) {
    T v = a[5];
    IMGPIPE_UNROLL
    for (int i = 0; i < 5; ++i) v = order::least(v, order::most(a[4 - i], b[i]));
    return v;
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    constexpr int n = 4, m = 2, w = n + 4;
    for_patches<T, 2, n, m>(block, in, region, [&](const auto& read, int x, int y, int z) {
      T rows[m + 4][w], inner[w][4];
      IMGPIPE_UNROLL
      for (int r = 0; r < m + 4; ++r) read(r - 2, rows[r]);
      IMGPIPE_UNROLL
      for (int j = 0; j < w; ++j) {
        auto& c = inner[j];
        IMGPIPE_UNROLL
        for (int r = 0; r < 4; ++r) c[r] = rows[r + 1][j];
        order::exchange(c[0], c[1]);
        order::exchange(c[2], c[3]);
        order::exchange(c[0], c[2]);
        order::exchange(c[1], c[3]);
        order::exchange(c[1], c[2]);
      }
      IMGPIPE_UNROLL
      for (int side = 0; side < 2; ++side) {
        T columns[w][5], out[n];
        IMGPIPE_UNROLL
        for (int j = 0; j < w; ++j) order::insert(inner[j], rows[side == 0 ? 0 : 5][j], columns[j]);
        row<n>(columns, out);
        write<R, n>(sink, x, y + side, z, out);
      }
    });
  }
};

/// f(x, y, z) for the pixels of R, neighbouring threads along x.
template <class Block, class R, class F>
IMGPIPE_FN void for_pixels(const Block& block, R, const F& f) {
  for (int i = block.first(); i < R::width * R::height * R::depth; i += block.stride()) {
    const int rest = i / R::width;
    f(i % R::width + R::x0, rest % R::height + R::y0, rest / R::height + R::z0);
  }
}

/// Boxes of up to 32 pixels: all in registers.
template <class T, int X, int Y, int Z>
struct Small {
  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    for_pixels(block, region, [&](int x, int y, int z) {
      T v[(2 * X + 1) * (2 * Y + 1) * (2 * Z + 1)];
      int count = 0;
      IMGPIPE_UNROLL
      for (int dz = -Z; dz <= Z; ++dz) {
        IMGPIPE_UNROLL
        for (int dy = -Y; dy <= Y; ++dy) {
          IMGPIPE_UNROLL
          for (int dx = -X; dx <= X; ++dx) v[count++] = in.row(y + dy, z + dz)[x + dx];
        }
      }
      sink.one(x, y, z, order::median(v) + T(0));
    });
  }
};

/// Integers in the order of T's values: of the values themselves when all are whole, else of their bits.
template <class T, bool WHOLE>
struct Keys;
template <class T>
struct Keys<T, true> {
  using Key = i64;
  static IMGPIPE_FN i64 of(T v) { return i64(v); }
  static IMGPIPE_FN T value(i64 key) { return T(key); }
};
template <>
struct Keys<float, true> {
  using Key = i32;
  static IMGPIPE_FN i32 of(float v) { return i32(v); }
  static IMGPIPE_FN float value(i32 key) { return float(key); }
};
template <>
struct Keys<float, false> {
  using Key = u32;
  static IMGPIPE_FN u32 of(float v) {
    const u32 bits = maths::bits_of(v);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
  }
  static IMGPIPE_FN float value(u32 key) { return maths::float_from_bits(key >> 31 ? key & 0x7fffffffu : ~key); }
};
template <>
struct Keys<double, false> {
  using Key = u64;
  static IMGPIPE_FN u64 of(double v) {
    const u64 bits = maths::bits_of(v);
    return bits >> 63 ? ~bits : bits | (u64(1) << 63);
  }
  static IMGPIPE_FN double value(u64 key) {
    return maths::double_from_bits(key >> 63 ? key & ~(u64(1) << 63) : ~key);
  }
};

/// Any window: bisects the range of its values for the least that has more than half of them not above it.
/// Row (dy, dz) of the window goes from -spans[row] to spans[row]; -1 is an empty row.
template <class T, int X, int Y, int Z, bool WHOLE>
struct Any {
  static constexpr int rows = (2 * Y + 1) * (2 * Z + 1);
  int half;  ///< of the number of pixels, rounded down
  i8 spans[rows];

  template <class In, class F>
  IMGPIPE_FN void for_window(const In& in, int x, int y, int z, const F& f) const {
    for (int r = 0; r < rows; ++r) {
      const T* row = in.row(y + r % (2 * Y + 1) - Y, z + r / (2 * Y + 1) - Z) + x;
      const int span = spans[r];
      for (int dx = -span; dx <= span; ++dx) f(row[dx]);
    }
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    using K = Keys<T, WHOLE>;
    for_pixels(block, region, [&](int x, int y, int z) {
      T least = in.row(y, z)[x], most = least;
      for_window(in, x, y, z, [&](T v) {
        least = order::least(least, v);
        most = order::most(most, v);
      });
      T result = least;
      if (least == least) {
        auto low = K::of(least), high = K::of(most);
        while (low < high) {
          const auto mid = low + (high - low) / 2;
          const T bound = K::value(mid);
          int count = 0;
          for_window(in, x, y, z, [&](T v) { count += v <= bound; });
          if (count > half) high = mid;
          else low = mid + 1;
        }
        result = K::value(low);
      }
      sink.one(x, y, z, result + T(0));
    });
  }
};

}  // namespace imgpipe::median
