#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::normalize {

template <class T>
struct Op {
  T low, high, black, white;
  T scale;
  int low_index, high_index;  ///< of the scalars; -1: the value given
  IMGPIPE_FN void bind(const double* scalars) {
    low = low_index < 0 ? low : T(scalars[low_index]);
    high = high_index < 0 ? high : T(scalars[high_index]);
    prepare();
  }
  IMGPIPE_FN void prepare() {
    const T width = high - low;
    scale = width > T(0) ? (white - black) / width : maths::largest(T(0));
  }
  IMGPIPE_FN T operator()(T v) const {
    return maths::not_above(maths::not_below(maths::fma(v - low, scale, black), black), white);
  }
};

}  // namespace imgpipe::normalize
