#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::window {

template <class T>
struct Op {
  T low, width, black, range;
  IMGPIPE_FN T operator()(T v) const {
    T t = (v - low) / width;
    t = t < T(0) ? T(0) : t;
    t = t > T(1) ? T(1) : t;
    return maths::fma(t, range, black);
  }
};

}  // namespace imgpipe::window
