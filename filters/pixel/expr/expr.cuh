#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/tile.cuh"

// What generated expressions call, by the names of the language.
namespace imgpipe::expr {

using maths::abs;
using maths::acos;
using maths::asin;
using maths::atan;
using maths::atan2;
using maths::ceil;
using maths::cos;
using maths::exp;
using maths::exp2;
using maths::floor;
using maths::hypot;
using maths::log;
using maths::log10;
using maths::log2;
using maths::max;
using maths::min;
using maths::pow;
using maths::sin;
using maths::sqrt;
using maths::tan;

template <class T>
IMGPIPE_FN T clamp(T v, T low, T high) {
  return v < low ? low : v > high ? high : v;
}
template <class T>
IMGPIPE_FN T isnan(T v) {
  return v != v ? T(1) : T(0);
}
template <class T>
IMGPIPE_FN T mod(T a, T b) {
  return a - b * maths::floor(a / b);
}
template <class T>
IMGPIPE_FN T round(T v) {
  return maths::rint(v);
}
template <class T>
IMGPIPE_FN T select(T condition, T a, T b) {
  return condition != T(0) ? a : b;
}
template <class T>
IMGPIPE_FN T sign(T v) {
  return v > T(0) ? T(1) : v < T(0) ? T(-1) : v;
}

}  // namespace imgpipe::expr
