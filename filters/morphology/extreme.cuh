#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/order.cuh"
#include "filters/base/passes.cuh"

namespace imgpipe::extreme {

template <bool MOST, class T>
IMGPIPE_FN T pick(T a, T b) {
  return MOST ? order::most(a, b) : order::least(a, b);
}

/// Along one axis. Windows that start in one run share what all of them hold, or build up by doubling.
template <class T, bool MOST, int AXIS, int LOW, int HIGH>
struct Line {
  using Sample = T;
  using Value = T;
  static constexpr int taps = LOW + HIGH + 1, work = 4;

  IMGPIPE_FN T start() const { return MOST ? -maths::infinity(T(0)) : maths::infinity(T(0)); }
  IMGPIPE_FN T step(int k, T v, T best) const { return k == 0 ? v + T(0) : pick<MOST>(best, v + T(0)); }

  template <int N>
  IMGPIPE_FN void apply(const T (&v)[N + taps - 1], T (&out)[N]) const {
    if constexpr (N <= taps)
      share<N>(v, out);
    else
      grow<N>(v, out);
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) out[j] += T(0);
  }

  /// out[j] covers v[j, taps + j): the middle of all, a tail of what is before it, a head of what is after it.
  template <int N>
  IMGPIPE_FN void share(const T (&v)[N + taps - 1], T (&out)[N]) const {
    out[N - 1] = v[N - 1];
    IMGPIPE_UNROLL
    for (int i = N; i < taps; ++i) out[N - 1] = pick<MOST>(out[N - 1], v[i]);
    IMGPIPE_UNROLL
    for (int j = N - 2; j >= 0; --j) out[j] = pick<MOST>(out[j + 1], v[j]);
    if constexpr (N > 1) {
      T head = v[taps];
      IMGPIPE_UNROLL
      for (int j = 1; j < N; ++j) {
        if (j > 1) head = pick<MOST>(head, v[taps + j - 1]);
        out[j] = pick<MOST>(out[j], head);
      }
    }
  }

  static IMGPIPE_FN constexpr int largest_power() {
    int power = 1;
    while (2 * power <= taps) power *= 2;
    return power;
  }

  template <int N>
  IMGPIPE_FN void grow(const T (&v)[N + taps - 1], T (&out)[N]) const {
    T best[N + taps - 1];
    IMGPIPE_UNROLL
    for (int i = 0; i < N + taps - 1; ++i) best[i] = v[i];
    IMGPIPE_UNROLL
    for (int d = 1; d < largest_power(); d *= 2) {
      IMGPIPE_UNROLL
      for (int i = 0; i < N + taps - 1; ++i)
        if (i + d < N + taps - 1) best[i] = pick<MOST>(best[i], best[i + d]);
    }
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) out[j] = pick<MOST>(best[j], best[j + taps - largest_power()]);
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    passes::along<AXIS, LOW, HIGH>(block, in, region, sink, *this);
  }
};

/// Any footprint: row (dy, dz) of the window goes from first to last.
template <class T, bool MOST, int LOW_Y, int HIGH_Y, int LOW_Z, int HIGH_Z>
struct Rows {
  static constexpr int height = LOW_Y + HIGH_Y + 1, rows = height * (LOW_Z + HIGH_Z + 1);
  struct Span {
    i8 first, last;
  };
  Span spans[rows];

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R, const Sink& sink) const {
    for_pixels<R>(block, [&](int x, int y, int z) {
      T best = in.row(y, z)[x];
      for (int r = 0; r < rows; ++r) {
        const T* row = in.row(y + r % height - LOW_Y, z + r / height - LOW_Z) + x;
        for (int dx = spans[r].first; dx <= spans[r].last; ++dx) best = pick<MOST>(best, row[dx]);
      }
      sink.one(x, y, z, best + T(0));
    });
  }
};

}  // namespace imgpipe::extreme
