// window: map a range of intensities to the full range.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::window {

struct Params {
  std::optional<double> center, width, low, high;
};

/// (v - low) / (high - low), limited to [0, 1], times the dtype's nominal range.
Value build(Builder& b, Value in, double low, double high);

FilterSpec spec();

}  // namespace imgpipe::window
