#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::clamp {

template <class T>
struct Op {
  T low, high;
  IMGPIPE_FN T operator()(T v) const {
    v = v < low ? low : v;
    return v > high ? high : v;
  }
};

}  // namespace imgpipe::clamp
