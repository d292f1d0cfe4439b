// Samples between memory, registers and tiles: loads, stores, casts, and what lies outside the image.
#pragma once

#include "filters/base/border.cuh"
#include "filters/base/frame.cuh"

namespace imgpipe {

// ---- memory

template <class S>
IMGPIPE_FN S* sample_at(const View& view, i64 x, i64 y, i64 z, int c) {
  return static_cast<S*>(view.data) + (x * view.stride_x + y * view.stride_y + z * view.stride_z + c);
}
/// Pixel (x, y, z) of the tile.
template <class S>
IMGPIPE_FN S* tile_sample(const View& view, const Origin& o, int x, int y, int z, int c) {
  return sample_at<S>(view, o.x, o.y, o.z, c) + (i64(x) * view.stride_x + i64(y) * view.stride_y + z * view.stride_z);
}

IMGPIPE_FN int within(int i, int low, int high) { return i < low ? low : i >= high ? high - 1 : i; }

/// Pixels outside the image get the value of the nearest one inside. ALIGNED: x is a multiple of 4 in the image.
/// `inner`: all that this pass loads lies inside the image.
template <class T, class S, bool ALIGNED, int N, int AXIS>
IMGPIPE_FN void load_pack(const Pack<N, AXIS>&, const View& view, const Origin& o, bool inner, int x, int y, int z,
                          int c, T (&v)[N]) {
  if constexpr (AXIS == 0 && N % 4 == 0) {
    if (view.quads && (ALIGNED || ((int(o.x) + x) & 3) == 0) &&
        (inner || (x >= o.x0 && x + N <= o.x1 && y >= o.y0 && y < o.y1 && z >= o.z0 && z < o.z1))) {
      const S* p = sample_at<const S>(view, o.x, o.y, o.z, c) + (x + i64(y) * view.stride_y + z * view.stride_z);
      IMGPIPE_UNROLL
      for (int q = 0; q < N / 4; ++q) {
        const auto four = reinterpret_cast<const Vector<S, 4>*>(p)[q];
        IMGPIPE_UNROLL
        for (int j = 0; j < 4; ++j) v[4 * q + j] = static_cast<T>(four.v[j]);
      }
      return;
    }
  }
  IMGPIPE_UNROLL
  for (int j = 0; j < N; ++j)
    v[j] = static_cast<T>(*tile_sample<const S>(view, o, within(x + (AXIS == 0 ? j : 0), o.x0, o.x1),
                                                within(y + (AXIS == 0 ? 0 : j), o.y0, o.y1), within(z, o.z0, o.z1), c));
}

/// As above, of a view in quads and where all that is loaded lies inside the image.
template <class T, class S, int N>
IMGPIPE_FN void load_inner(const View& view, const Origin& o, int x, int y, int z, int c, T (&v)[N]) {
  const S* p = sample_at<const S>(view, o.x, o.y, o.z, c) + (x + i64(y) * view.stride_y + z * view.stride_z);
  IMGPIPE_UNROLL
  for (int q = 0; q < N / 4; ++q) {
    const auto four = reinterpret_cast<const Vector<S, 4>*>(p)[q];
    IMGPIPE_UNROLL
    for (int j = 0; j < 4; ++j) v[4 * q + j] = static_cast<T>(four.v[j]);
  }
}

template <class T>
IMGPIPE_FN T canonical_nan(T v) {
  return v != v ? maths::quiet_nan(T(0)) : v;
}

template <class S, class T>
IMGPIPE_FN S to_sample(T v) {
  if constexpr (S(0.5) == S(0))
    return static_cast<S>(v);
  else
    return static_cast<S>(canonical_nan(v));
}

template <class S, bool OWN, int N, int AXIS, class T>
IMGPIPE_FN void store_pack(const Pack<N, AXIS>& pack, const View& view, const Origin& o, int x, int y, int z, int c,
                           const T (&v)[N]) {
  if (x >= o.own_x || y >= o.own_y || z >= o.own_z) return;
  if constexpr (!OWN)
    if (x < (AXIS == 0 ? 1 - N : 0) || y < (AXIS == 0 ? 0 : 1 - N) || z < 0) return;
  S* p = tile_sample<S>(view, o, x, y, z, c);
  if constexpr (AXIS == 0 && N % 4 == 0) {
    if (view.quads && pack.count == N && (OWN || x >= 0) && x + N <= o.own_x && ((int(o.x) + x) & 3) == 0) {
      IMGPIPE_UNROLL
      for (int q = 0; q < N / 4; ++q) {
        Vector<S, 4> four;
        IMGPIPE_UNROLL
        for (int j = 0; j < 4; ++j) four.v[j] = to_sample<S>(v[4 * q + j]);
        reinterpret_cast<Vector<S, 4>*>(p)[q] = four;
      }
      return;
    }
  }
  const i64 step = AXIS == 0 ? view.stride_x : view.stride_y;
  const int at = AXIS == 0 ? x : y, end = AXIS == 0 ? o.own_x : o.own_y;
  IMGPIPE_UNROLL
  for (int j = 0; j < N; ++j, p += step)
    if (j < pack.count && (OWN || at + j >= 0) && at + j < end) *p = to_sample<S>(v[j]);
}

// ---- casts

/// What an integer type holds.
template <class S>
struct Limits {
  static constexpr bool has_sign = S(-1) < S(0);
  static constexpr double span = double(u64(1) << (8 * sizeof(S) - has_sign));
  static constexpr double low = has_sign ? -span : 0, high = span - 1;
};

struct Counter {
  u32 clipped = 0, nans = 0;
};

/// Rounds half to even and saturates into S; NaN becomes 0. Samples that do not fit are rare: they are looked for once
/// a pack, and counted apart when the pixel is the tile's own.
template <class S, bool OWN, int N, int AXIS, class T, class Out>
IMGPIPE_FN void cast_pack(const Pack<N, AXIS>& pack, const Origin& o, int x, int y, int z, const T (&in)[N],
                          Out (&out)[N], Counter& counter) {
  if constexpr (S(0.5) != S(0)) {
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) out[j] = static_cast<Out>(static_cast<S>(in[j]));
  } else {
    using Wide = decltype(Out(0) + T(0));
    constexpr Wide low = Wide(Limits<S>::low), high = Wide(Limits<S>::high);
    bool misfit = false;
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) {
      const Wide rounded = maths::rint(static_cast<Wide>(in[j]));
      Wide r = rounded > low ? rounded : low;
      r = r < high ? r : high;
      misfit |= r != rounded;
      out[j] = static_cast<Out>(r + Wide(0));
    }
    if (!misfit) return;
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) {
      const Wide v = static_cast<Wide>(in[j]), rounded = maths::rint(v);
      const bool own = pack.template owns<OWN>(o, x, y, z, j);
      counter.nans += (v != v) & own;
      counter.clipped += ((rounded < low) | (rounded > high)) & own;
      if (v != v) out[j] = Out(0);
    }
  }
}

// ---- borders

/// Fills what lies outside the image from what lies inside, so that a window can read over the edge.
template <class R, class Block, class TileT, class T>
IMGPIPE_FN void refill(const Block& block, const TileT& tile, const Frame& f, const Origin& o, const Edge<T>& edge) {
  for_pixels<R>(block, [&](int x, int y, int z) {
    const i64 gx = o.x + x, gy = o.y + y, gz = o.z + z;
    if (gx >= 0 && gx < f.width && gy >= 0 && gy < f.height && gz >= 0 && gz < f.depth) return;
    const i64 sx = border_at(gx, f.width, edge.mode), sy = border_at(gy, f.height, edge.mode),
              sz = border_at(gz, f.depth, edge.mode);
    // A source outside this tile belongs to a pixel that no window of this tile reads.
    const i64 lx = sx - o.x, ly = sy - o.y, lz = sz - o.z;
    const bool none = sx < 0 || sy < 0 || sz < 0;
    const bool here = lx >= R::x0 && lx < R::x1 && ly >= R::y0 && ly < R::y1 && lz >= R::z0 && lz < R::z1;
    tile.at(x, y, z) = none || !here ? edge.constant : tile.at(int(lx), int(ly), int(lz));
  });
}

/// The same with the far side of the stored image.
template <class R, class S, class Block, class TileT>
IMGPIPE_FN void refill_wrapped(const Block& block, const TileT& tile, const Frame& f, const Origin& o, const View& view,
                               int c) {
  for_pixels<R>(block, [&](int x, int y, int z) {
    const i64 gx = o.x + x, gy = o.y + y, gz = o.z + z;
    if (gx >= 0 && gx < f.width && gy >= 0 && gy < f.height && gz >= 0 && gz < f.depth) return;
    tile.at(x, y, z) = static_cast<typename TileT::T>(*sample_at<const S>(view, border_at(gx, f.width, border_wrap),
                                                                          border_at(gy, f.height, border_wrap),
                                                                          border_at(gz, f.depth, border_wrap), c));
  });
}

}  // namespace imgpipe
