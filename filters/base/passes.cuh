// One-dimensional windows over a tile: every thread computes a run of outputs along x, y or z whose windows overlap,
// from one set of samples in registers. Rows are read and written in groups of four.
// A body says what is done with a window: see correlate1d.cuh.
#pragma once

#include "filters/base/tile.cuh"

namespace imgpipe::passes {

/// Tuned for 768 threads on a multiprocessor: 85 registers a thread.
constexpr int register_taps = 33, register_samples = 56;

template <class T>
struct alignas(16) Quad {
  T v[4];
};

IMGPIPE_FN constexpr int up4(int n) { return (n + 3) & ~3; }
IMGPIPE_FN constexpr int down4(int n) { return n & ~3; }
IMGPIPE_FN constexpr int rounds(int n, int unit) { return (n + unit - 1) / unit; }

/// Groups of N outputs along x that cover R, the first at a multiple of 4.
template <class R, int N>
struct RowGroups {
  static constexpr int first = down4(R::x0), lead = R::x0 - first;
  static constexpr int count = rounds(R::x1 - first, N);
  static constexpr bool exact = lead == 0 && R::width % N == 0;
};

/// q = in[x + FIRST, x + FIRST + 4 * COUNT) of a row; quads without a sample that R needs are replaced by one with.
template <class R, int LOW, int HIGH, int FIRST, int COUNT, bool EXACT, class T>
IMGPIPE_FN void read_quads(const T* row, int x, T (&q)[4 * COUNT]) {
  constexpr int least = down4(R::x0 - LOW), most = down4(R::x1 + HIGH - 1);
  IMGPIPE_UNROLL
  for (int i = 0; i < COUNT; ++i) {
    int at = x + FIRST + 4 * i;
    if constexpr (!EXACT) at = at < least ? least : at > most ? most : at;
    const Quad<T> four = *reinterpret_cast<const Quad<T>*>(row + at);
    IMGPIPE_UNROLL
    for (int j = 0; j < 4; ++j) q[4 * i + j] = four.v[j];
  }
}

/// Hands a group's outputs to the sink, without those outside R.
template <class R, int N, class Sink, class T>
IMGPIPE_FN void write_row(const Sink& sink, int x, int y, int z, const T (&v)[N]) {
  using G = RowGroups<R, N>;
  if constexpr (G::exact) {
    sink.row(x, y, z, v);
  } else {
    const int end = x + N < R::x1 ? x + N : R::x1;
    if constexpr (G::lead == 0) {
      sink.row_upto(x, y, z, v, end - x);
    } else {
      const int skip = x < R::x0 ? G::lead : 0;
      T shifted[N];
      IMGPIPE_UNROLL
      for (int j = 0; j < N; ++j) shifted[j] = skip && j + G::lead < N ? v[(j + G::lead) % N] : v[j];
      sink.row_upto(x + skip, y, z, shifted, end - x - skip);
    }
  }
}

/// How many outputs a thread computes along an axis of LENGTH pixels: the least work for a block of THREADS
/// threads that goes over LINES lines in whole rounds. WORK is arithmetic an output.
template <int THREADS, int LENGTH, int TAPS, int LINES, int WORK>
IMGPIPE_FN constexpr int run_length() {
  int best = 1;
  long long least = 0;
  for (int n = 1; n <= 16; ++n) {
    if (n > 1 && n + TAPS - 1 > register_samples) break;
    const long long cost =
        (long long)(rounds(LINES * rounds(LENGTH, n), THREADS)) * (n * WORK + 2 * (n + TAPS - 1) + 6 * n + 8);
    if (n == 1 || cost <= least) {
      best = n;
      least = cost;
    }
  }
  return best;
}

/// 8 outputs of a long window: 8 taps at a time on 16 samples in registers. `fetch(i, v)` reads samples i … i + 7,
/// counted from SKIP before the first tap of the first output.
template <int TAPS, int SKIP, class Body, class Fetch>
IMGPIPE_FN void stream(const Body& body, const Fetch& fetch, typename Body::Value (&out)[8]) {
  using T = typename Body::Sample;
  T v[16], next[8];
  fetch(0, next);
  IMGPIPE_UNROLL
  for (int j = 0; j < 8; ++j) {
    v[j] = next[j];
    out[j] = body.start();
  }
  for (int c = 0; c < TAPS + SKIP; c += 8) {
    fetch(c + 8, next);
    IMGPIPE_UNROLL
    for (int j = 0; j < 8; ++j) v[8 + j] = next[j];
    IMGPIPE_UNROLL
    for (int t = 0; t < 8; ++t) {
      const int k = c + t - SKIP;
      if (k < 0 || k >= TAPS) continue;
      IMGPIPE_UNROLL
      for (int j = 0; j < 8; ++j) out[j] = body.step(k, v[t + j], out[j]);
    }
    IMGPIPE_UNROLL
    for (int j = 0; j < 8; ++j) v[j] = v[8 + j];
  }
}

template <int LOW, int HIGH, class Block, class In, class R, class Sink, class Body>
IMGPIPE_FN void along_x(const Block& block, const In& in, R, const Sink& sink, const Body& body) {
  using T = typename Body::Sample;
  constexpr int taps = LOW + HIGH + 1;
  constexpr bool wide = taps > register_taps;
  // 8 outputs share loads better; 4 when the threads would not have enough to do.
  constexpr int lines = R::height * R::depth;
  constexpr int n = wide || lines * RowGroups<R, 8>::count >= Block::threads / 2 ? 8 : 4;
  using G = RowGroups<R, n>;
  constexpr int left = up4(LOW);
  for_items<R::height, G::count, R::depth>(block, [&](int line, int group, int slice) {
    const int x = group * n + G::first, y = line + R::y0, z = slice + R::z0;
    const T* row = in.row(y, z);
    typename Body::Value out[n];
    if constexpr (wide) {
      const auto fetch = [&](int at, T(&v)[8]) { read_quads<R, LOW, HIGH, -left, 2, false>(row, x + at, v); };
      stream<taps, left - LOW>(body, fetch, out);
    } else {
      constexpr int quads = (left + n + up4(HIGH)) / 4;
      T q[4 * quads], v[n + taps - 1];
      read_quads<R, LOW, HIGH, -left, quads, G::exact>(row, x, q);
      IMGPIPE_UNROLL
      for (int j = 0; j < n + taps - 1; ++j) v[j] = q[left - LOW + j];
      body.template apply<n>(v, out);
    }
    write_row<R, n>(sink, x, y, z, out);
  });
}

/// Along y (AXIS 1) or z (AXIS 2): neighbouring threads take neighbouring x.
template <int AXIS, int LOW, int HIGH, class Block, class In, class R, class Sink, class Body>
IMGPIPE_FN void across_rows(const Block& block, const In& in, R, const Sink& sink, const Body& body) {
  using T = typename Body::Sample;
  constexpr int taps = LOW + HIGH + 1;
  constexpr bool wide = taps > register_taps;
  constexpr int length = AXIS == 1 ? R::height : R::depth, others = AXIS == 1 ? R::depth : R::height;
  constexpr int begin = AXIS == 1 ? R::y0 : R::z0, end = AXIS == 1 ? R::y1 : R::z1;
  constexpr int n = wide ? 8 : run_length<Block::threads, length, taps, R::width * others, Body::work>();
  constexpr int runs = rounds(length, n);
  for_items<R::width, runs, others>(block, [&](int column, int first, int other) {
    const int x = column + R::x0, a = first * n + begin, b = other + (AXIS == 1 ? R::z0 : R::y0);
    const auto sample = [&](int at) -> T {
      if constexpr (wide || length % n != 0) at = at < end + HIGH ? at : end + HIGH - 1;
      return AXIS == 1 ? in.row(at, b)[x] : in.row(b, at)[x];
    };
    typename Body::Value out[n];
    if constexpr (wide) {
      const auto fetch = [&](int at, T(&v)[8]) {
        IMGPIPE_UNROLL
        for (int j = 0; j < 8; ++j) v[j] = sample(a - LOW + at + j);
      };
      stream<taps, 0>(body, fetch, out);
    } else {
      T v[n + taps - 1];
      IMGPIPE_UNROLL
      for (int j = 0; j < n + taps - 1; ++j) v[j] = sample(a - LOW + j);
      body.template apply<n>(v, out);
    }
    if constexpr (AXIS == 1) {
      if constexpr (length % n == 0)
        sink.column(x, a, b, out);
      else
        sink.column_upto(x, a, b, out, a + n < end ? n : end - a);
    } else {
      IMGPIPE_UNROLL
      for (int j = 0; j < n; ++j)
        if (length % n == 0 || a + j < end) sink.one(x, b, a + j, out[j]);
    }
  });
}

template <int AXIS, int LOW, int HIGH, class Block, class In, class R, class Sink, class Body>
IMGPIPE_FN void along(const Block& block, const In& in, R region, const Sink& sink, const Body& body) {
  if constexpr (AXIS == 0)
    along_x<LOW, HIGH>(block, in, region, sink, body);
  else
    across_rows<AXIS, LOW, HIGH>(block, in, region, sink, body);
}

}  // namespace imgpipe::passes
