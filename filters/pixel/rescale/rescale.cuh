#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::rescale {

template <class T>
struct Op {
  T black_in, range_in, black_out, range_out;
  IMGPIPE_FN T operator()(T v) const { return maths::fma((v - black_in) / range_in, range_out, black_out); }
};

}  // namespace imgpipe::rescale
