#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::clamp {

template <class T>
struct Op {
  T low, high;
  IMGPIPE_FN T operator()(T v) const { return maths::not_above(maths::not_below(v, low), high); }
};

}  // namespace imgpipe::clamp
