// otsu: a mask by the best division of the histogram.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::otsu {

struct Params {
  int bins = 65536;
};

/// The mask, uint8 0 or 255, of what lies above Otsu's threshold.
Value build(Builder& b, Value in, int bins = 65536);

FilterSpec spec();

}  // namespace imgpipe::otsu
