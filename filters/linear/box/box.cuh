#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/passes.cuh"

namespace imgpipe::box {

/// Sums in S, ascending. Adding to -0 keeps a sum of -0.
template <class T, class S, int AXIS, int LOW, int HIGH>
struct Sum {
  using Sample = T;
  using Value = S;
  static constexpr int taps = LOW + HIGH + 1, work = sizeof(S) / 4 * taps;

  IMGPIPE_FN S start() const { return S(-0.0); }
  IMGPIPE_FN S step(int, T v, S sum) const { return sum + S(v); }
  template <int N>
  IMGPIPE_FN void apply(const T (&v)[N + taps - 1], S (&out)[N]) const {
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) {
      out[j] = start();
      IMGPIPE_UNROLL
      for (int k = 0; k < taps; ++k) out[j] = step(k, v[j + k], out[j]);
    }
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    passes::along<AXIS, LOW, HIGH>(block, in, region, sink, *this);
  }
};

template <class S>
struct Divide {
  S count;
  IMGPIPE_FN S operator()(S sum) const { return sum / count; }
};

}  // namespace imgpipe::box
