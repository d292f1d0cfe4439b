// linear: gain and offset.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::linear {

struct Params {
  double gain = 1;
  double offset = 0;
};

/// v * gain + offset in native values.
Value build(Builder& b, Value in, double gain, double offset);

FilterSpec spec();

}  // namespace imgpipe::linear
