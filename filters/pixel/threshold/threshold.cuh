#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::threshold {

/// 255 where low < v <= high.
template <class T>
struct Between {
  T low, high;
  IMGPIPE_FN T operator()(T v) const { return v > low && v <= high ? T(255) : T(0); }
};

/// 255 where v > the scalar.
template <class T>
struct Above {
  T limit;
  int index;
  IMGPIPE_FN void bind(const double* scalars) { limit = maths::rounded_down(scalars[index], T(0)); }
  IMGPIPE_FN T operator()(T v) const { return v > limit ? T(255) : T(0); }
};

}  // namespace imgpipe::threshold
