// unsharp: sharpen by adding what a blur takes away.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::unsharp {

struct Params {
  Lengths sigma = 1.0;
  double amount = 1;
  double threshold = 0;
};

Value build(Builder& b, Value in, const Params& p);

FilterSpec spec();

}  // namespace imgpipe::unsharp
