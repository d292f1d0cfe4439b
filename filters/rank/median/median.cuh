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
  for_items<G::count, stacks, R::depth>(block, [&](int group, int stack, int slice) {
    const int x = group * N + G::first, y = stack * M + R::y0, z = slice + R::z0;
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
  });
}

/// Networks of square windows: two rows of N outputs from 2 + 2 reach rows of N + 2 reach values.

/// 3 x 3. The sorted pair in the middle is shared by both rows, sorted columns by the outputs beside each other.
struct Three {
  static constexpr int reach = 1;
  template <int N, class V>
  static IMGPIPE_FN void two_rows(const V (*rows)[N + 2], V (*out)[N]) {
    V pairs[N + 2][2];
    IMGPIPE_UNROLL
    for (int j = 0; j < N + 2; ++j) {
      pairs[j][0] = order::least(rows[1][j], rows[2][j]);
      pairs[j][1] = order::most(rows[1][j], rows[2][j]);
    }
    IMGPIPE_UNROLL
    for (int side = 0; side < 2; ++side) {
      V columns[N + 2][3];
      IMGPIPE_UNROLL
      for (int j = 0; j < N + 2; ++j) order::insert(pairs[j], rows[3 * side][j], columns[j]);
      IMGPIPE_UNROLL
      for (int j = 0; j < N; ++j) {
        const auto &a = columns[j], &b = columns[j + 1], &c = columns[j + 2];
        out[side][j] = order::middle(order::most(order::most(a[0], b[0]), c[0]), order::middle(a[1], b[1], c[1]),
                                     order::least(order::least(a[2], b[2]), c[2]));
      }
    }
  }
};

/// 5 x 5. Columns are sorted once for both rows but for their ends; pairs of neighbouring columns are merged once for
/// four outputs, four columns once for two: the median of 25 is of rank 8 to 13 among those 20, or in the fifth column.
struct Five {
  static constexpr int reach = 2;
  template <int N, class V>
  static IMGPIPE_FN void two_rows(const V (*rows)[N + 4], V (*out)[N]) {
    V inner[N + 4][4];
    IMGPIPE_UNROLL
    for (int j = 0; j < N + 4; ++j) {
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
      V columns[N + 4][5], pairs[N / 2 + 1][10];
      IMGPIPE_UNROLL
      for (int j = 0; j < N + 4; ++j) order::insert(inner[j], rows[5 * side][j], columns[j]);
      IMGPIPE_UNROLL
      for (int p = 0; p < N / 2 + 1; ++p) order::merge(columns[2 * p + 1], columns[2 * p + 2], pairs[p]);
      IMGPIPE_UNROLL
      for (int p = 0; p < N / 2; ++p) {
        V four[20];
        order::merge(pairs[p], pairs[p + 1], four);
        out[side][2 * p] = order::middle_of(&four[7], columns[2 * p]);
        out[side][2 * p + 1] = order::middle_of(&four[7], columns[2 * p + 5]);
      }
    }
  }
};

template <class T, class Network>
struct Square {
  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    constexpr int reach = Network::reach, n = 4, m = 2;
    for_patches<T, reach, n, m>(block, in, region, [&](const auto& read, int x, int y, int z) {
      T rows[m + 2 * reach][n + 2 * reach], out[m][n];
      IMGPIPE_UNROLL
      for (int r = 0; r < m + 2 * reach; ++r) read(r - reach, rows[r]);
      Network::template two_rows<n>(rows, out);
      IMGPIPE_UNROLL
      for (int r = 0; r < m; ++r) {
        IMGPIPE_UNROLL
        for (int j = 0; j < n; ++j) out[r][j] += T(0);
        if (y + r < R::y1) passes::write_row<R, n>(sink, x, y + r, z, out[r]);
      }
    });
  }
};

/// The same for whole values of 8 and 16 bits, two at once: row r goes with row r + 2. `bias` maps them to
/// [2^23, 2^23 + 65535], where the low half of a float's bits counts.
template <class Network>
struct Packed {
  float bias;

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    constexpr int reach = Network::reach, n = 4, m = 4, w = n + 2 * reach;
    for_patches<float, reach, n, m>(block, in, region, [&](const auto& read, int x, int y, int z) {
      u32 rows[m + 2 * reach][w];
      IMGPIPE_UNROLL
      for (int r = 0; r < m + 2 * reach; ++r) {
        float v[w];
        read(r - reach, v);
        IMGPIPE_UNROLL
        for (int j = 0; j < w; ++j) rows[r][j] = maths::bits_of(v[j] + bias);
      }
      order::Two both[2 + 2 * reach][w], out[2][n];
      IMGPIPE_UNROLL
      for (int r = 0; r < 2 + 2 * reach; ++r) {
        IMGPIPE_UNROLL
        for (int j = 0; j < w; ++j) both[r][j] = {order::low_halves(rows[r][j], rows[r + 2][j])};
      }
      Network::template two_rows<n>(both, out);
      IMGPIPE_UNROLL
      for (int r = 0; r < m; ++r) {
        float v[n];
        IMGPIPE_UNROLL
        for (int j = 0; j < n; ++j) {
          const u32 halves = out[r % 2][j].halves;
          v[j] = maths::float_from_bits((r < 2 ? halves & 0xffffu : halves >> 16) | 0x4b000000u) - bias;
        }
        if (y + r < R::y1) passes::write_row<R, n>(sink, x, y + r, z, v);
      }
    });
  }
};

/// 3 x 3 x 3: columns of 9 are sorted once for three outputs, pairs of them merged once for two. The median of 27 is of
/// rank 5 to 14 among those 18, or in the third column.
template <class T>
struct Cube {
  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R, const Sink& sink) const {
    constexpr int n = 4, w = n + 2;
    using G = passes::RowGroups<R, n>;
    for_items<G::count, R::height, R::depth>(block, [&](int group, int line, int slice) {
      const int x = group * n + G::first, y = line + R::y0, z = slice + R::z0;
      T planes[3][w][3];
      IMGPIPE_UNROLL
      for (int p = 0; p < 3; ++p) {
        T rows[3][12];
        IMGPIPE_UNROLL
        for (int r = 0; r < 3; ++r)
          passes::read_quads<R, 1, 1, -4, 3, G::exact>(in.row(y + r - 1, z + p - 1), x, rows[r]);
        IMGPIPE_UNROLL
        for (int j = 0; j < w; ++j) {
          auto& c = planes[p][j];
          IMGPIPE_UNROLL
          for (int r = 0; r < 3; ++r) c[r] = rows[r][3 + j];
          order::exchange(c[0], c[1]);
          order::exchange(c[1], c[2]);
          order::exchange(c[0], c[1]);
        }
      }
      T columns[w][9], out[n];
      IMGPIPE_UNROLL
      for (int j = 0; j < w; ++j) {
        T six[6];
        order::merge(planes[0][j], planes[1][j], six);
        order::merge(six, planes[2][j], columns[j]);
      }
      IMGPIPE_UNROLL
      for (int j = 0; j < n; j += 2) {
        T two[18];
        order::merge(columns[j + 1], columns[j + 2], two);
        out[j] = order::middle_of(&two[4], columns[j]) + T(0);
        out[j + 1] = order::middle_of(&two[4], columns[j + 3]) + T(0);
      }
      passes::write_row<R, n>(sink, x, y, z, out);
    });
  }
};

/// Other boxes of up to 32 pixels: all in registers.
template <class T, int X, int Y, int Z>
struct Small {
  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    for_pixels<R>(block, [&](int x, int y, int z) {
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
  static IMGPIPE_FN double value(u64 key) { return maths::double_from_bits(key >> 63 ? key & ~(u64(1) << 63) : ~key); }
};

/// Any window: looks for the least value that has more than half of the window's values not above it, by bisection of
/// the window's range. Whole values start from the median of the pixel above, which is never far in counts.
/// Row (dy, dz) of the window goes from -spans[row] to spans[row]; -1 is an empty row. BOX: all rows are full.
template <class T, int X, int Y, int Z, bool WHOLE, bool BOX>
struct Any {
  using K = Keys<T, WHOLE>;
  using Key = typename K::Key;
  static constexpr int rows = (2 * Y + 1) * (2 * Z + 1), run = 8;
  int half;  ///< of the number of pixels, rounded down
  i8 spans[BOX ? 4 : rows];

  template <class In, class F>
  IMGPIPE_FN void for_window(const In& in, int x, int y, int z, const F& f) const {
    for (int dz = -Z; dz <= Z; ++dz)
      for (int dy = -Y; dy <= Y; ++dy) {
        const T* row = in.row(y + dy, z + dz) + x;
        if constexpr (BOX && X <= 12) {
          IMGPIPE_UNROLL
          for (int dx = -X; dx <= X; ++dx) f(row[dx]);
        } else {
          const int span = BOX ? X : spans[(dz + Z) * (2 * Y + 1) + dy + Y];
          for (int dx = -span; dx <= span; ++dx) f(row[dx]);
        }
      }
  }

  /// Whether the median is at most this key's value.
  template <class In>
  IMGPIPE_FN bool at_most(const In& in, int x, int y, int z, Key key) const {
    const T bound = K::value(key);
    int count = 0;
    for_window(in, x, y, z, [&](T v) { count += v <= bound; });
    return count > half;
  }

  template <class In>
  IMGPIPE_FN Key bisect(const In& in, int x, int y, int z, Key low, Key high) const {
    while (low < high) {
      const Key mid = low + (high - low) / 2;
      if (at_most(in, x, y, z, mid))
        high = mid;
      else
        low = mid + 1;
    }
    return low;
  }

  /// Widens a bracket around the guess, by `step` at first, until it holds the median.
  template <class In>
  IMGPIPE_FN Key near(const In& in, int x, int y, int z, Key guess, Key step) const {
    Key low = guess + 1, high = guess;
    if (at_most(in, x, y, z, guess)) {
      low = guess - step;
      while (at_most(in, x, y, z, low)) {
        high = low;
        step *= 2;
        low -= step;
      }
      ++low;
    } else {
      high = guess + step;
      while (!at_most(in, x, y, z, high)) {
        low = high + 1;
        step *= 2;
        high += step;
      }
    }
    return bisect(in, x, y, z, low, high);
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R, const Sink& sink) const {
    constexpr int runs = passes::rounds(R::height, run);
    for_items<R::width, runs, R::depth>(block, [&](int column, int part, int slice) {
      const int x = column + R::x0, top = part * run + R::y0, z = slice + R::z0;
      const int bottom = top + run < R::y1 ? top + run : R::y1;
      Key key = 0, step = 4;
      for (int y = top; y < bottom; ++y) {
        T result = T(0);
        if (WHOLE && y > top) {
          const Key guess = key;
          key = near(in, x, y, z, guess, step);
          step = 1 + (key > guess ? key - guess : guess - key) / 2;
          result = K::value(key);
        } else {
          T least = in.row(y, z)[x], most = least;
          for_window(in, x, y, z, [&](T v) {
            least = order::least(least, v);
            most = order::most(most, v);
          });
          result = least;
          if (least == least) {
            key = bisect(in, x, y, z, K::of(least), K::of(most));
            result = K::value(key);
          }
        }
        sink.one(x, y, z, result + T(0));
      }
    });
  }
};

}  // namespace imgpipe::median
