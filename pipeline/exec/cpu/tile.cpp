#include "pipeline/exec/cpu/tile.h"

#include <algorithm>
#include <limits>

#include "pipeline/exec/rows.h"

namespace imgpipe {

Box Box::grown(const Halo& halo) const {
  Box box = *this;
  for (int a = 0; a < 3; ++a) {
    box.begin[a] -= halo.low[a];
    box.end[a] += halo.high[a];
  }
  return box;
}

Box Box::inside(const Extent& extent) const {
  const std::int64_t sizes[3] = {extent.width, extent.height, extent.depth};
  Box box = *this;
  for (int a = 0; a < 3; ++a) {
    box.begin[a] = std::max<std::int64_t>(0, begin[a]);
    box.end[a] = std::min(sizes[a], end[a]);
  }
  return box;
}

bool Box::within(const Extent& extent) const {
  return begin[0] >= 0 && begin[1] >= 0 && begin[2] >= 0 && end[0] <= extent.width && end[1] <= extent.height &&
         end[2] <= extent.depth;
}

std::int64_t pitch_of(std::int64_t width, DType dtype) {
  const auto line = static_cast<std::int64_t>(64 / size_of(dtype));
  return (width + line - 1) / line * line;
}

namespace {

template <class T>
void refill_as(const TileBuffer& buffer, int c, const Box& region, const Extent& extent, Border border, T constant) {
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return reinterpret_cast<T*>(buffer.at(c, x, y, z));
  };
  const Box in = region.inside(extent);
  const std::int64_t width = region.size(0);
  for (std::int64_t z = in.begin[2]; z < in.end[2]; ++z)
    for (std::int64_t y = in.begin[1]; y < in.end[1]; ++y) {
      T* row = at(region.begin[0], y, z) - region.begin[0];
      for (std::int64_t x = region.begin[0]; x < region.end[0]; ++x) {
        if (x == in.begin[0]) x = in.end[0];
        if (x >= region.end[0]) break;
        const std::int64_t from = border_index(x, extent.width, border);
        row[x] = from < 0 ? constant : row[from];
      }
    }
  for (std::int64_t z = in.begin[2]; z < in.end[2]; ++z)
    for (std::int64_t y = region.begin[1]; y < region.end[1]; ++y) {
      if (y >= in.begin[1] && y < in.end[1]) continue;
      const std::int64_t from = border_index(y, extent.height, border);
      T* row = at(region.begin[0], y, z);
      if (from < 0)
        std::fill(row, row + width, constant);
      else
        std::copy_n(at(region.begin[0], from, z), width, row);
    }
  for (std::int64_t z = region.begin[2]; z < region.end[2]; ++z) {
    if (z >= in.begin[2] && z < in.end[2]) continue;
    const std::int64_t from = border_index(z, extent.depth, border);
    for (std::int64_t y = region.begin[1]; y < region.end[1]; ++y) {
      T* row = at(region.begin[0], y, z);
      if (from < 0)
        std::fill(row, row + width, constant);
      else
        std::copy_n(at(region.begin[0], y, from), width, row);
    }
  }
}

/// Infinities, which never win a minimum or maximum, are the ends of an integer type.
template <class T>
T constant_as(double constant) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(constant);
  else
    return static_cast<T>(std::clamp<double>(constant, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

}  // namespace

void refill(const TileBuffer& buffer, int c, const Box& region, const Extent& extent, Border border, double constant) {
  visit_dtype(buffer.dtype, [&](auto t) {
    using T = decltype(t);
    refill_as<T>(buffer, c, region, extent, border, constant_as<T>(constant));
  });
}

void refill_wrapped(const TileBuffer& buffer, int c, const Box& region, const ConstImageView& view) {
  const Box in = region.inside(view.extent);
  for (std::int64_t z = region.begin[2]; z < region.end[2]; ++z)
    for (std::int64_t y = region.begin[1]; y < region.end[1]; ++y)
      for (std::int64_t x = region.begin[0]; x < region.end[0]; ++x) {
        const bool inside =
            x >= in.begin[0] && x < in.end[0] && y >= in.begin[1] && y < in.end[1] && z >= in.begin[2] && z < in.end[2];
        if (inside) continue;
        const std::int64_t from = view.offset(border_index(x, view.extent.width, Border::wrap),
                                              border_index(y, view.extent.height, Border::wrap),
                                              border_index(z, view.extent.depth, Border::wrap), c);
        rows::load(view.data + from * static_cast<std::int64_t>(size_of(view.dtype)), view.dtype, 1,
                   buffer.at(c, x, y, z), buffer.dtype, 1);
      }
}

}  // namespace imgpipe
