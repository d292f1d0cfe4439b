// normalize: stretch a range of intensities to the full range.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::normalize {

struct Params {
  Level low{0, true};
  Level high{100, true};
  std::vector<double> to;  ///< [min, max]; empty: the nominal range
};

Value build(Builder& b, Value in, const Params& p);

FilterSpec spec();

}  // namespace imgpipe::normalize
