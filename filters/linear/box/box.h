// box: the mean of a window.
#pragma once

#include "filters/base/filter.h"
#include "filters/base/footprint.h"

namespace imgpipe::box {

struct Params {
  std::array<int, 3> radius{1, 1, 1};
  std::optional<std::array<int, 3>> size;
};

constexpr int most_radius = 511;

/// Mean over a window of this reach; colour is weighted by alpha.
Value build(Builder& b, Value in, const Halo& reach);

FilterSpec spec();

}  // namespace imgpipe::box
