#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::gamma {

template <class T>
struct Op {
  T exponent, white, inverse;
  IMGPIPE_FN T operator()(T v) const {
    return maths::with_sign_of(white * maths::pow_magnitude(maths::abs(v) * inverse, exponent), v);
  }
};

}  // namespace imgpipe::gamma
