#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::gamma {

template <class T>
struct Op {
  T exponent, white;
  IMGPIPE_FN T operator()(T v) const {
    const T power = white * maths::pow(maths::abs(v) / white, exponent);
    return v < T(0) ? -power : power;
  }
};

}  // namespace imgpipe::gamma
