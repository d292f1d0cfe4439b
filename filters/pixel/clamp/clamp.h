// clamp: limit values to a range.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::clamp {

struct Params {
  std::optional<double> low, high;
};

Value build(Builder& b, Value in, double low, double high);

FilterSpec spec();

}  // namespace imgpipe::clamp
