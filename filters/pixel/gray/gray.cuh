#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::gray {

/// CHANNELS 3 or 4; the fourth is alpha and stays.
template <class T, int CHANNELS>
struct Op {
  T red, green, blue;
  IMGPIPE_FN void operator()(const T* v, T* out) const {
    out[0] = maths::fma(blue, v[2], maths::fma(green, v[1], red * v[0]));
    if constexpr (CHANNELS == 4) out[1] = v[3];
  }
};

}  // namespace imgpipe::gray
