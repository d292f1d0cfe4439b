#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::arithmetic {

/// 0 add, 1 subtract, 2 multiply, 3 divide.
template <int OPERATION, class T>
IMGPIPE_FN T apply(T a, T b) {
  if constexpr (OPERATION == 0)
    return a + b;
  else if constexpr (OPERATION == 1)
    return a - b;
  else if constexpr (OPERATION == 2)
    return a * b;
  else
    return a / b;
}

template <class T, int OPERATION>
struct WithConstant {
  T value;
  IMGPIPE_FN T operator()(T v) const { return apply<OPERATION>(v, value); }
};

template <class T, int OPERATION>
struct WithImage {
  char unused;
  IMGPIPE_FN T operator()(T v, T w) const { return apply<OPERATION>(v, w); }
};

/// The second image has one channel, for all colours of the first.
template <class T, int OPERATION, int CHANNELS, int COLOURS>
struct WithGray {
  char unused;
  IMGPIPE_FN void operator()(const T* v, const T* w, T* out) const {
    IMGPIPE_UNROLL
    for (int c = 0; c < CHANNELS; ++c) out[c] = c < COLOURS ? apply<OPERATION>(v[c], w[0]) : v[c];
  }
};

}  // namespace imgpipe::arithmetic
