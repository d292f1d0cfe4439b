// median: the middle value of a window.
#pragma once

#include "filters/base/filter.h"
#include "filters/base/footprint.h"

namespace imgpipe::median {

enum class Shape { box, ball };

struct Params {
  std::array<int, 3> radius{1, 1, 1};
  std::optional<std::array<int, 3>> size;
  Shape footprint = Shape::box;
};

constexpr int most_radius = 127;

/// The windows of `reach` have an odd number of pixels.
Value build(Builder& b, Value in, const Halo& reach, Footprint footprint);

FilterSpec spec();

}  // namespace imgpipe::median
namespace imgpipe {
template <>
struct EnumNames<median::Shape> {
  static constexpr std::string_view value[] = {"box", "ball"};
};
}  // namespace imgpipe
