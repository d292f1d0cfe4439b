// The shape of a window: how far it reaches, and which of its pixels belong to it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "filters/base/graph.h"
#include "filters/base/params.h"

namespace imgpipe {

enum class Footprint { box, cross, ball };
template <>
struct EnumNames<Footprint> {
  static constexpr std::string_view value[] = {"box", "cross", "ball"};
};

/// The reach of a window given by radius, or by size [x, y, z] when there is one: of k pixels, i - k/2 … i - k/2 + k
/// - 1. Images that are no volume have no reach along z; the z that [x, y] leaves out is 0 or 1 pixels wide.
Halo reach_of(const std::array<int, 3>& radius, const std::optional<std::array<int, 3>>& size, bool volume);

/// The window turned by half a turn.
Halo reflected(const Halo& reach);

/// For each row of the window, z slowest: the first and the last x offset that belong to it; {1, 0} when none does.
/// ball: sum of (d / r)^2 <= 1 over the axes, r being the reach; cross: at most one offset is not 0.
struct RowSpan {
  int first, last;
};
std::vector<RowSpan> row_spans(Footprint footprint, const Halo& reach);

/// Throws std::invalid_argument unless x and y of `size` are at least 1; `odd` refuses even sizes as well.
void check_size(const std::optional<std::array<int, 3>>& size, bool odd);

/// Whether a sample of `type` can hold `value`: what is outside the image is then as whole as what is inside.
bool is_value_of(double value, DType type);

/// Pixels in the window.
std::int64_t count_of(const std::vector<RowSpan>& spans);

}  // namespace imgpipe
