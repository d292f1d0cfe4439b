#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::unsharp {

template <class T>
struct Op {
  T amount, threshold;
  IMGPIPE_FN T operator()(T v, T blurred) const {
    const T detail = v - blurred;
    return maths::abs(detail) < threshold ? v : maths::fma(amount, detail, v);
  }
};

}  // namespace imgpipe::unsharp
