#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::invert {

template <class T>
struct Op {
  T sum;
  IMGPIPE_FN T operator()(T v) const { return sum - v; }
};

}  // namespace imgpipe::invert
