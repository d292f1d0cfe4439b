// convolve: correlation with any small kernel.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::convolve {

struct Params {
  Kernel kernel;
  bool normalize = false;
};

constexpr int most_weights = 1024;

/// out(i) = sum of weight(k) * in(i + k - size / 2), z slowest, x fastest, ascending.
Value build(Builder& b, Value in, const Kernel& kernel);

FilterSpec spec();

}  // namespace imgpipe::convolve
