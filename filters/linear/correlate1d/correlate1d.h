// correlate1d: one axis correlated with a list of weights. The separable linear filters are made of it.
#pragma once

#include <optional>
#include <vector>

#include "filters/base/filter.h"

namespace imgpipe {

enum class Axis { x, y, z };
template <>
struct EnumNames<Axis> {
  static constexpr std::string_view value[] = {"x", "y", "z"};
};

namespace correlate1d {

struct Params {
  std::vector<double> kernel;
  Axis axis = Axis::x;
  int origin = 0;
};

constexpr int most_taps = 1025;

struct Options {
  bool filters_alpha = false;
  std::optional<double> constant;  ///< in place of the step's: what earlier passes make of it
};

/// out(i) = sum over k of taps[k] * in(i - low + k) along `axis`, ascending, each tap rounded to the compute type.
Value build(Builder& b, Value in, Axis axis, const std::vector<double>& taps, int low, const Options& options = {});

FilterSpec spec();

}  // namespace correlate1d
}  // namespace imgpipe
