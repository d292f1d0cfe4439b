// Where a generated kernel works: the stored images it is given, the tile's place among them, and packs of pixels.
#pragma once

#include "filters/base/maths.cuh"
#include "filters/base/tile.cuh"

namespace imgpipe {

/// A stored image. Strides are in samples; `quads` says that 4 neighbours along x can be read as one aligned vector.
struct View {
  void* data;
  i64 stride_z;
  i32 stride_x, stride_y;
  int quads;
};

/// Division of numbers below 2^31 by one that the host knows.
struct Divider {
  u32 divisor, multiplier, shift;
};
IMGPIPE_FN u32 divide(u32 n, const Divider& d) {
#if defined(__CUDACC_RTC__)
  return d.multiplier ? __umulhi(n, d.multiplier) >> d.shift : n;
#else
  return d.multiplier ? u32(u64(n) * d.multiplier >> 32) >> d.shift : n;
#endif
}

/// What every kernel of a group gets.
struct Frame {
  i64 width, height, depth;
  i64 tiles_x, tiles_y, tiles;
  Divider across, down;  ///< by tiles_x and tiles_y
  int small;             ///< fewer than 2^31 tiles, sides below 2^30: numbers of 32 bits will do
  char* scratch;         ///< one tile's memory a block, when tiles do not fit in fast memory
  i64 scratch_bytes;
  u64* counts;  ///< [clipped, NaN]
};

/// How a window's input continues outside the image. `mode` numbers enum Border.
template <class T>
struct Edge {
  int mode;
  T constant;
};

/// The tile's first pixel; relative to it (within the reach of an int) the image's bounds [x0, x1) and so on, and the
/// sizes of what this tile is there to compute.
struct Origin {
  i64 x, y, z;
  int x0, x1, y0, y1, z0, z1;
  int own_x, own_y, own_z;

  template <class R>
  IMGPIPE_FN bool inside() const {
    return R::x0 >= x0 && R::x1 <= x1 && R::y0 >= y0 && R::y1 <= y1 && R::z0 >= z0 && R::z1 <= z1;
  }
};

IMGPIPE_FN int to_bound(i64 distance) {
  constexpr i64 most = 1 << 30;
  return int(distance < -most ? -most : distance > most ? most : distance);
}
IMGPIPE_FN int least(int a, int b) { return a < b ? a : b; }

template <int X, int Y, int Z>
IMGPIPE_FN Origin tile_origin(const Frame& f, i64 tile) {
  // 64-bit arithmetic and division by the number of tiles would take longer than many a tile's own work.
  if (f.small) {
    const u32 t = u32(tile), row = divide(t, f.across), plane = divide(row, f.down);
    const int x = int(t - row * f.across.divisor) * X, y = int(row - plane * f.down.divisor) * Y, z = int(plane) * Z;
    const int x1 = int(f.width) - x, y1 = int(f.height) - y, z1 = int(f.depth) - z;
    return {x, y, z, -x, x1, -y, y1, -z, z1, least(X, x1), least(Y, y1), least(Z, z1)};
  }
  const i64 row = tile / f.tiles_x, x = (tile - row * f.tiles_x) * X, y = row % f.tiles_y * Y, z = row / f.tiles_y * Z;
  const int x1 = to_bound(f.width - x), y1 = to_bound(f.height - y), z1 = to_bound(f.depth - z);
  return {x, y, z, to_bound(-x), x1, to_bound(-y), y1, to_bound(-z), z1, least(X, x1), least(Y, y1), least(Z, z1)};
}

/// Of images that are one row.
template <int X>
IMGPIPE_FN Origin row_origin(const Frame& f, i64 tile) {
  if (f.small) {
    const int x = int(tile) * X, x1 = int(f.width) - x;
    return {x, 0, 0, -x, x1, 0, 1, 0, 1, least(X, x1), 1, 1};
  }
  const int x1 = to_bound(f.width - tile * X);
  return {tile * X, 0, 0, to_bound(-tile * X), x1, 0, 1, 0, 1, least(X, x1), 1, 1};
}

template <class S, int N>
struct alignas(sizeof(S) * N <= 16 ? sizeof(S) * N : 16) Vector {
  S v[N];
};

// ---- packs: N pixels along x (AXIS 0) or y (AXIS 1), of which `count` are wanted

template <int N_, int AXIS_>
struct Pack {
  static constexpr int n = N_, axis = AXIS_;
  int count;

  template <class TileT, class T>
  IMGPIPE_FN void read(const TileT& tile, int x, int y, int z, T (&v)[N_]) const {
    if constexpr (AXIS_ == 0 && N_ % 4 == 0) {
      const typename TileT::T* row = tile.row(y, z) + x;
      if ((x & 3) == 0) {
        IMGPIPE_UNROLL
        for (int q = 0; q < N_ / 4; ++q) {
          const auto four = reinterpret_cast<const Vector<T, 4>*>(row)[q];
          IMGPIPE_UNROLL
          for (int j = 0; j < 4; ++j) v[4 * q + j] = four.v[j];
        }
        return;
      }
    }
    IMGPIPE_UNROLL
    for (int j = 0; j < N_; ++j)
      if (j < count) v[j] = AXIS_ == 0 ? tile.at(x + j, y, z) : tile.at(x, y + j, z);
  }

  template <class TileT, class T>
  IMGPIPE_FN void write(const TileT& tile, int x, int y, int z, const T (&v)[N_]) const {
    if constexpr (AXIS_ == 0 && N_ % 4 == 0) {
      typename TileT::T* row = tile.row(y, z) + x;
      if ((x & 3) == 0 && count == N_) {
        IMGPIPE_UNROLL
        for (int q = 0; q < N_ / 4; ++q) {
          Vector<T, 4> four;
          IMGPIPE_UNROLL
          for (int j = 0; j < 4; ++j) four.v[j] = v[4 * q + j];
          reinterpret_cast<Vector<T, 4>*>(row)[q] = four;
        }
        return;
      }
    }
    IMGPIPE_UNROLL
    for (int j = 0; j < N_; ++j)
      if (j < count) (AXIS_ == 0 ? tile.at(x + j, y, z) : tile.at(x, y + j, z)) = v[j];
  }

  /// Whether pixel j is one of the tile's own and in the image. OWN: no pixel lies before the tile's own.
  template <bool OWN>
  IMGPIPE_FN bool owns(const Origin& o, int x, int y, int z, int j) const {
    const int px = AXIS_ == 0 ? x + j : x, py = AXIS_ == 0 ? y : y + j;
    const bool inside = (j < count) & (px < o.own_x) & (py < o.own_y) & (z < o.own_z);
    return OWN ? inside : inside & (px >= 0) & (py >= 0) & (z >= 0);
  }

  IMGPIPE_FN Position position(const Frame& f, const Origin& o, int x, int y, int z, int j) const {
    return {o.x + x + (AXIS_ == 0 ? j : 0), o.y + y + (AXIS_ == 0 ? 0 : j), o.z + z, f.width, f.height, f.depth};
  }
};

}  // namespace imgpipe
