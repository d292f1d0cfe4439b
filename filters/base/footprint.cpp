#include "filters/base/footprint.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace imgpipe {
namespace {

double part(int offset, int reach) {
  if (offset == 0) return 0;
  return static_cast<double>(offset) * offset / (static_cast<double>(reach) * reach);
}

}  // namespace

Halo reach_of(const std::array<int, 3>& radius, const std::optional<std::array<int, 3>>& size, bool volume) {
  Halo reach;
  for (int a = 0; a < (volume ? 3 : 2); ++a) {
    const int length = size ? std::max(1, (*size)[a]) : 2 * radius[a] + 1;
    reach.low[a] = length / 2;
    reach.high[a] = length - 1 - length / 2;
  }
  return reach;
}

Halo reflected(const Halo& reach) { return {reach.high, reach.low}; }

std::vector<RowSpan> row_spans(Footprint footprint, const Halo& reach) {
  const auto belongs = [&](int x, int y, int z) {
    if (footprint == Footprint::box) return true;
    if (footprint == Footprint::cross) return (x != 0) + (y != 0) + (z != 0) <= 1;
    const int offset[3] = {x, y, z};
    double sum = 0;
    for (int a = 0; a < 3; ++a) sum += part(offset[a], offset[a] < 0 ? reach.low[a] : reach.high[a]);
    return sum <= 1 + 1e-12;
  };
  std::vector<RowSpan> spans;
  for (int z = -reach.low[2]; z <= reach.high[2]; ++z)
    for (int y = -reach.low[1]; y <= reach.high[1]; ++y) {
      RowSpan span{1, 0};
      for (int x = -reach.low[0]; x <= reach.high[0]; ++x) {
        if (!belongs(x, y, z)) continue;
        if (span.first > span.last) span.first = x;
        span.last = x;
      }
      spans.push_back(span);
    }
  return spans;
}

void check_size(const std::optional<std::array<int, 3>>& size, bool odd) {
  if (!size) return;
  for (int a = 0; a < 3; ++a) {
    const int length = (*size)[a];
    if (length < (a < 2 ? 1 : 0))
      throw std::invalid_argument("size: must be at least 1, got " + std::to_string(length));
    if (odd && length % 2 == 0 && length > 0)
      throw std::invalid_argument("size: must be odd, got " + std::to_string(length) +
                                  ": the median of an even window lies between two of its values. Use " +
                                  std::to_string(length - 1) + " or " + std::to_string(length + 1));
  }
}

bool is_value_of(double value, DType type) {
  if (is_float(type)) return true;
  const NominalRange range = nominal_range(type);
  return value == std::floor(value) && value >= range.black && value <= range.white;
}

std::int64_t count_of(const std::vector<RowSpan>& spans) {
  std::int64_t count = 0;
  for (const RowSpan& span : spans) count += span.last - span.first + 1;
  return count;
}

}  // namespace imgpipe
