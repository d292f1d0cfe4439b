#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::rescale {

/// To floats: a true division, so that 51 of 255 is the float nearest to 0.2.
template <class T>
struct ToFloat {
  T black, range;
  IMGPIPE_FN T operator()(T v) const { return (v - black) / range; }
};

/// To integers: one factor; it is exact or far from every tie.
template <class T>
struct ToInteger {
  T black_in, scale, black_out;
  IMGPIPE_FN T operator()(T v) const { return maths::fma(v - black_in, scale, black_out); }
};

}  // namespace imgpipe::rescale
