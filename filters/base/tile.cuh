// What a filter's device code is written against: a block of threads, tiles, regions and sinks.
// The same source runs on the host with a one-thread block.
#pragma once

#include "filters/base/device.cuh"

namespace imgpipe {

/// Where a pixel stands in the image, and the image's size.
struct Position {
  i64 x, y, z;
  i64 width, height, depth;
};

/// The pixels to compute, relative to the tile's first pixel: compile-time bounds.
template <int X0, int X1, int Y0, int Y1, int Z0, int Z1>
struct Region {
  static constexpr int x0 = X0, x1 = X1, y0 = Y0, y1 = Y1, z0 = Z0, z1 = Z1;
  static constexpr int width = X1 - X0, height = Y1 - Y0, depth = Z1 - Z0;
};

/// Shares A * B * C items among a block's threads: f(a, b, c), a fastest. Unsigned numbers spare sign corrections.
template <int A, int B, int C, class Block, class F>
IMGPIPE_FN void for_items(const Block& block, const F& f) {
  for (u32 i = u32(block.first()); i < u32(A) * B * C; i += u32(block.stride())) {
    const u32 rest = i / u32(A);
    f(int(i % u32(A)), C == 1 ? int(rest) : int(rest % u32(B)), C == 1 ? 0 : int(rest / u32(B)));
  }
}
/// The pixels of R: f(x, y, z).
template <class R, class Block, class F>
IMGPIPE_FN void for_pixels(const Block& block, const F& f) {
  for_items<R::width, R::height, R::depth>(block, [&](int x, int y, int z) { f(x + R::x0, y + R::y0, z + R::z0); });
}

/// One channel of a tile in fast memory. Pixels are addressed relative to the tile's first pixel, so halo pixels have
/// negative coordinates. LEFT and PITCH keep x = 0 on a 16-byte boundary and PITCH/4 odd, which keeps threads that
/// walk down rows with 16-byte accesses off each other's banks.
template <class T_, int LEFT, int TOP, int FRONT, int PITCH, int ROWS, int PLANES>
struct Tile {
  using T = T_;
  static constexpr int pitch = PITCH;
  static constexpr int plane = PITCH * ROWS;
  static constexpr int samples = plane * PLANES;
  T* data;
  IMGPIPE_FN T* row(int y, int z) const { return data + (z + FRONT) * plane + (y + TOP) * PITCH + LEFT; }
  IMGPIPE_FN T& at(int x, int y, int z) const { return row(y, z)[x]; }
  IMGPIPE_FN Tile channel(int c) const { return {data + c * samples}; }
};

}  // namespace imgpipe
