// flip: mirror along axes.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::flip {

enum class Axis { x, y, z };

struct Params {
  std::vector<Axis> axis{Axis::x};
};

FilterSpec spec();

}  // namespace imgpipe::flip
