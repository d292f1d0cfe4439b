// threshold: a mask of what is brighter.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::threshold {

struct Params {
  std::string value;  ///< a number, a percentage, "otsu" or "mean"
  std::optional<double> low, high;
};

/// The mask, uint8 0 or 255, of v > limit.
Value above(Builder& b, Value in, double limit);
/// The same with the limit as the first of the scalars.
Value above(Builder& b, Value in, Scalars scalars, int index);

FilterSpec spec();

}  // namespace imgpipe::threshold
