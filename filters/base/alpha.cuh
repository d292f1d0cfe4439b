#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::alpha {

template <class T, int CHANNELS>
struct Weight {
  T white;
  IMGPIPE_FN void operator()(const T* v, T* out) const {
    const T a = v[CHANNELS - 1] / white;
    IMGPIPE_UNROLL
    for (int c = 0; c < CHANNELS - 1; ++c) out[c] = v[c] * a;
    out[CHANNELS - 1] = a;
  }
};

/// First image: filtered weighted colours and weights; second: the original, for its alpha.
template <class T, int CHANNELS>
struct Unweight {
  char unused;
  IMGPIPE_FN void operator()(const T* v, const T* original, T* out) const {
    const T a = v[CHANNELS - 1];
    IMGPIPE_UNROLL
    for (int c = 0; c < CHANNELS - 1; ++c) out[c] = a == T(0) ? T(0) : v[c] / a;
    out[CHANNELS - 1] = original[CHANNELS - 1];
  }
};

/// Alpha of one white as alpha of another.
template <class T, int CHANNELS>
struct Range {
  T to, from;
  IMGPIPE_FN void operator()(const T* v, T* out) const {
    IMGPIPE_UNROLL
    for (int c = 0; c < CHANNELS - 1; ++c) out[c] = v[c];
    out[CHANNELS - 1] = v[CHANNELS - 1] * to / from;
  }
};

}  // namespace imgpipe::alpha
