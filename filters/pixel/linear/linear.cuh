#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::linear {

template <class T>
struct Op {
  T gain, offset;
  IMGPIPE_FN T operator()(T v) const { return maths::fma(v, gain, offset); }
};

}  // namespace imgpipe::linear
