#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::normalize {

template <class T>
struct Op {
  T low, high, black, range;
  int low_index, high_index;  ///< of the scalars; -1: the value given
  IMGPIPE_FN void bind(const double* scalars) {
    low = low_index < 0 ? low : T(scalars[low_index]);
    high = high_index < 0 ? high : T(scalars[high_index]);
  }
  IMGPIPE_FN T operator()(T v) const {
    const T width = high - low;
    T t = (v - low) / (width > T(0) ? width : T(1));
    t = width > T(0) ? t : t * T(0);
    t = t < T(0) ? T(0) : t;
    t = t > T(1) ? T(1) : t;
    return maths::fma(t, range, black);
  }
};

}  // namespace imgpipe::normalize
