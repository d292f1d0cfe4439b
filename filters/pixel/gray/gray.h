// gray: colour to gray.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::gray {

enum class Weights { rec601, rec709 };

struct Params {
  Weights weights = Weights::rec601;
};

Value build(Builder& b, Value in, Weights weights);

FilterSpec spec();

}  // namespace imgpipe::gray
