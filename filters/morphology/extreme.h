// The least or the greatest value of a window: what erode, dilate, open and close are made of.
#pragma once

#include "filters/base/filter.h"
#include "filters/base/footprint.h"

namespace imgpipe::extreme {

struct Params {
  std::array<int, 3> radius{1, 1, 1};
  std::optional<std::array<int, 3>> size;
  Footprint footprint = Footprint::box;
};

enum class Kind { least, most };

/// Without a border of the step's own, what lies outside the image never wins.
Value build(Builder& b, Value in, const Halo& reach, Footprint footprint, Kind kind);

/// Erosion (least) or dilation (most) as a step's parameters say; `reflect` turns the window by half a turn.
Value build(Builder& b, Value in, const Params& p, Kind kind, bool reflect = false);

/// The declaration that the four filters share but for these texts.
Filter<Params> filter(const char* name, const char* summary, const char* formula);

}  // namespace imgpipe::extreme
