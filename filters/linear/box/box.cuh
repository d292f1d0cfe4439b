#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/passes.cuh"

namespace imgpipe::box {

/// Sums in double, ascending. Adding to -0 keeps a sum of -0.
template <class T, int AXIS, int LOW, int HIGH>
struct Sum {
  using Sample = T;
  using Value = double;
  static constexpr int taps = LOW + HIGH + 1, work = 2 * taps;

  IMGPIPE_FN double start() const { return -0.0; }
  IMGPIPE_FN double step(int, T v, double sum) const { return sum + double(v); }
  template <int N>
  IMGPIPE_FN void apply(const T (&v)[N + taps - 1], double (&out)[N]) const {
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

struct Divide {
  double count;
  IMGPIPE_FN double operator()(double sum) const { return sum / count; }
};

}  // namespace imgpipe::box
