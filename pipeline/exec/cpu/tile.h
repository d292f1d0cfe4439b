// Tiles of the CPU executor: boxes of pixels, and the memory of one value over a box.
#pragma once

#include "filters/base/graph.h"

namespace imgpipe {

/// Pixels [begin, end) of an image on each axis.
struct Box {
  std::array<std::int64_t, 3> begin, end;
  std::int64_t size(int a) const { return end[a] - begin[a]; }
  Box grown(const Halo& halo) const;
  Box inside(const Extent& extent) const;
  bool within(const Extent& extent) const;
};

/// Calls f(y, z) for every row of the box.
template <class F>
void for_rows(const Box& box, F&& f) {
  for (std::int64_t z = box.begin[2]; z < box.end[2]; ++z)
    for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y) f(y, z);
}

/// Where a value lives during a tile: planar channels over `box`.
struct TileBuffer {
  std::byte* data = nullptr;
  Box box;
  DType dtype = DType::f32;                        ///< of the samples: the compute type, or 8 or 16 bits
  std::int64_t pitch = 0, plane = 0, channel = 0;  ///< in samples
  std::byte* at(int c, std::int64_t x, std::int64_t y, std::int64_t z) const {
    const std::int64_t sample =
        c * channel + (z - box.begin[2]) * plane + (y - box.begin[1]) * pitch + (x - box.begin[0]);
    return data + sample * static_cast<std::int64_t>(size_of(dtype));
  }
};

/// Rows begin on whole cache lines.
std::int64_t pitch_of(std::int64_t width, DType dtype);

/// Fills the part of `region` that lies outside the image from the buffer's in-image values.
void refill(const TileBuffer& buffer, int c, const Box& region, const Extent& extent, Border border, double constant);
/// Fills it from the far side of the stored image.
void refill_wrapped(const TileBuffer& buffer, int c, const Box& region, const ConstImageView& view);

}  // namespace imgpipe
