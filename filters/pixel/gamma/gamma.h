// gamma: raise values to a power on the nominal range.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::gamma {

struct Params {
  double gamma = 1;
};

Value build(Builder& b, Value in, double gamma);

FilterSpec spec();

}  // namespace imgpipe::gamma
