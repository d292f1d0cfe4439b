// gaussian: separable Gaussian blur and its derivatives.
#pragma once

#include <array>
#include <vector>

#include "filters/base/filter.h"

namespace imgpipe::gaussian {

struct Params {
  Lengths sigma;
  double truncate = 4;
  std::array<int, 3> order{0, 0, 0};
};

/// Weights for k = -r … r with r = ceil(truncate * sigma): normalised for order 0, correlated for orders 1 and 2.
std::vector<double> weights(double sigma, double truncate = 4, int order = 0);

/// Blurs x, y and, in volumes, z. Colour is weighted by alpha.
Value build(Builder& b, Value in, const Lengths& sigma, double truncate = 4);

FilterSpec spec();

}  // namespace imgpipe::gaussian
