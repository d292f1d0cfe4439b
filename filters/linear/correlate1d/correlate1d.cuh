#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/passes.cuh"

namespace imgpipe::correlate1d {

/// Taps ascending, one fused multiply-add each. Adding to -0 keeps the sign of a first product of -0.
template <class T, int AXIS, int LOW, int HIGH>
struct Op {
  using Sample = T;
  using Value = T;
  static constexpr int taps = LOW + HIGH + 1, work = taps;
  T weights[taps];

  IMGPIPE_FN T start() const { return T(-0.0); }
  IMGPIPE_FN T step(int k, T v, T sum) const { return maths::fma(weights[k], v, sum); }
  template <int N>
  IMGPIPE_FN void apply(const T (&v)[N + taps - 1], T (&out)[N]) const {
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) out[j] = start();
    IMGPIPE_UNROLL
    for (int k = 0; k < taps; ++k) {
      IMGPIPE_UNROLL
      for (int j = 0; j < N; ++j) out[j] = step(k, v[j + k], out[j]);
    }
  }

  template <class Block, class In, class R, class Sink>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R region, const Sink& sink) const {
    passes::along<AXIS, LOW, HIGH>(block, in, region, sink, *this);
  }
};

}  // namespace imgpipe::correlate1d
