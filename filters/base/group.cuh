// What a generated kernel is composed of: frames, views, packs of pixels, loads, border refills, sinks, counters.
// One kernel runs one group of the plan; the same source runs on the host with one thread a block.
#pragma once

#include "filters/base/border.cuh"
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

template <class S, class Wide>
struct Limits;
template <>
struct Limits<u8, float> {
  static constexpr float low = 0, high = 255;
};
template <>
struct Limits<i8, float> {
  static constexpr float low = -128, high = 127;
};
template <>
struct Limits<u16, float> {
  static constexpr float low = 0, high = 65535;
};
template <>
struct Limits<i16, float> {
  static constexpr float low = -32768, high = 32767;
};
template <>
struct Limits<u8, double> {
  static constexpr double low = 0, high = 255;
};
template <>
struct Limits<i8, double> {
  static constexpr double low = -128, high = 127;
};
template <>
struct Limits<u16, double> {
  static constexpr double low = 0, high = 65535;
};
template <>
struct Limits<i16, double> {
  static constexpr double low = -32768, high = 32767;
};
template <>
struct Limits<u32, double> {
  static constexpr double low = 0, high = 4294967295.0;
};
template <>
struct Limits<i32, double> {
  static constexpr double low = -2147483648.0, high = 2147483647.0;
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
    using L = Limits<S, Wide>;
    bool misfit = false;
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) {
      const Wide rounded = maths::rint(static_cast<Wide>(in[j]));
      Wide r = rounded > L::low ? rounded : L::low;
      r = r < L::high ? r : L::high;
      misfit |= r != rounded;
      out[j] = static_cast<Out>(r + Wide(0));
    }
    if (!misfit) return;
    IMGPIPE_UNROLL
    for (int j = 0; j < N; ++j) {
      const Wide v = static_cast<Wide>(in[j]), rounded = maths::rint(v);
      const bool own = pack.template owns<OWN>(o, x, y, z, j);
      counter.nans += (v != v) & own;
      counter.clipped += ((rounded < L::low) | (rounded > L::high)) & own;
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

// ---- sinks

/// What a window operation hands its results to. F: (pack, x, y, z, values).
template <class T, class F>
struct Sink {
  const F& f;
  IMGPIPE_FN void one(int x, int y, int z, T value) const {
    const T v[1] = {value};
    f(Pack<1, 0>{1}, x, y, z, v);
  }
  template <int N>
  IMGPIPE_FN void row(int x, int y, int z, const T (&v)[N]) const {
    f(Pack<N, 0>{N}, x, y, z, v);
  }
  template <int N>
  IMGPIPE_FN void column(int x, int y, int z, const T (&v)[N]) const {
    f(Pack<N, 1>{N}, x, y, z, v);
  }
  template <int N>
  IMGPIPE_FN void row_upto(int x, int y, int z, const T (&v)[N], int count) const {
    f(Pack<N, 0>{count}, x, y, z, v);
  }
  template <int N>
  IMGPIPE_FN void column_upto(int x, int y, int z, const T (&v)[N], int count) const {
    f(Pack<N, 1>{count}, x, y, z, v);
  }
};
template <class T, class F>
IMGPIPE_FN Sink<T, F> make_sink(const F& f) {
  return {f};
}

/// The window of one pixel: copies a channel that the operation leaves alone.
struct CopyThrough {
  template <class Block, class In, class R, class SinkT>
  IMGPIPE_FN void operator()(const Block& block, const In& in, R, const SinkT& sink) const {
    for_pixels<R>(block, [&](int x, int y, int z) { sink.one(x, y, z, in.at(x, y, z)); });
  }
};

/// The aligned groups of N pixels that cover R, for a block of STRIDE threads: a thread keeps its place along x and
/// goes down the rows. They reach up to N - 1 pixels beyond R's sides: of tiles that are kept in memory, which have
/// room for 3, N is 4.
template <class R, int N, int STRIDE>
struct Packs {
  static constexpr int first = R::x0 >= 0 ? R::x0 / N : -((N - 1 - R::x0) / N);
  static constexpr int across = (R::x1 + N - 1) / N - first;
  static constexpr int lanes = across < STRIDE ? across : STRIDE;
  static constexpr int step = STRIDE / lanes;  ///< rows at once
  static constexpr int rows = R::height * R::depth;
  static constexpr int rounds = (rows + step - 1) / step;
  static IMGPIPE_FN int x(int lane) { return N * (lane + first); }
  static IMGPIPE_FN int y(int row) { return (R::depth == 1 ? row : row % R::height) + R::y0; }
  static IMGPIPE_FN int z(int row) { return (R::depth == 1 ? 0 : row / R::height) + R::z0; }
};

/// Calls f(pack of N, x, y, z) for all packs of R.
template <class R, int N, class Block, class F>
IMGPIPE_FN void for_packs(const Block& block, const F& f) {
  using P = Packs<R, N, Block::stride()>;
  const int top = block.first() / P::lanes;
  if (top >= P::step) return;
  for (int lane = block.first() % P::lanes; lane < P::across; lane += P::lanes)
    for (int row = top; row < P::rows; row += P::step) f(Pack<N, 0>{N}, P::x(lane), P::y(row), P::z(row));
}

/// The same in batches of up to U a thread: `load(u, x, y, z)` of all before `use(u, x, y, z)` of the first, so that
/// their loads are under way together.
template <class R, int N, int U, class Block, class Load, class Use>
IMGPIPE_FN void for_batches(const Block& block, const Load& load, const Use& use) {
  using P = Packs<R, N, Block::stride()>;
  const int top = block.first() / P::lanes;
  if (top >= P::step) return;
  for (int lane = block.first() % P::lanes; lane < P::across; lane += P::lanes) {
    const int x = P::x(lane);
    for (int row = top; row < P::rows; row += U * P::step) {
      IMGPIPE_UNROLL
      for (int u = 0; u < U; ++u)
        if (const int r = row + u * P::step; r < P::rows) load(u, x, P::y(r), P::z(r));
      IMGPIPE_UNROLL
      for (int u = 0; u < U; ++u)
        if (const int r = row + u * P::step; r < P::rows) use(u, x, P::y(r), P::z(r));
    }
  }
}

// ---- numbers over the image

/// Order of doubles as order of unsigned integers.
IMGPIPE_FN u64 ordered_key(double v) {
  const u64 bits = maths::bits_of(v);
  return bits >> 63 ? ~bits : bits | (u64(1) << 63);
}
IMGPIPE_FN double from_ordered_key(u64 key) {
  return maths::double_from_bits(key >> 63 ? key & ~(u64(1) << 63) : ~key);
}

template <class T>
struct ExtremaCount {
  T low = maths::infinity(T(0)), high = -maths::infinity(T(0));
  IMGPIPE_FN void add(T v) {
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
};

/// [key of min, key of max], as a group leaves them, to the numbers themselves.
IMGPIPE_FN void read_extrema(const u64* keys, double* scalars) {
  const bool none = keys[0] > keys[1];
  scalars[0] = none ? maths::quiet_nan(0.0) : from_ordered_key(keys[0]) + 0.0;
  scalars[1] = none ? maths::quiet_nan(0.0) : from_ordered_key(keys[1]) + 0.0;
}

#ifdef __CUDACC_RTC__

/// A block of THREADS threads. All sizes are constants, so that the compiler sees how often a thread goes round.
template <int THREADS>
struct ThreadBlock {
  IMGPIPE_FN int first() const { return threadIdx.x; }
  static IMGPIPE_FN constexpr int stride() { return THREADS; }
  IMGPIPE_FN void sync() const { __syncthreads(); }
  IMGPIPE_FN i64 index() const { return blockIdx.x; }
  IMGPIPE_FN i64 count() const { return gridDim.x; }
  IMGPIPE_FN void add(u64* target, u32 value) const {
    const u32 sum = __reduce_add_sync(~0u, value);
    if (sum && threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(target), sum);
  }
  IMGPIPE_FN void increment(u64* target) const { atomicAdd(reinterpret_cast<unsigned long long*>(target), 1ull); }
  IMGPIPE_FN void increment(u32* target) const { atomicAdd(target, 1u); }
  IMGPIPE_FN void gather(u64* target, u32 value) const {
    if (value) atomicAdd(reinterpret_cast<unsigned long long*>(target), (unsigned long long)(value));
  }
  template <class T>
  IMGPIPE_FN void extrema(u64* keys, T low, T high) const {
    for (int lane = 16; lane > 0; lane /= 2) {
      const T l = __shfl_xor_sync(~0u, low, lane), h = __shfl_xor_sync(~0u, high, lane);
      low = l < low ? l : low;
      high = h > high ? h : high;
    }
    if (threadIdx.x % 32 != 0 || !(low <= high)) return;
    const u64 l = ordered_key(double(low)), h = ordered_key(double(high));
    auto* target = reinterpret_cast<unsigned long long*>(keys);
    // Most blocks have nothing better to say: a plain look spares the atomic.
    if (l < *reinterpret_cast<volatile unsigned long long*>(target)) atomicMin(target, l);
    if (h > *reinterpret_cast<volatile unsigned long long*>(target + 1)) atomicMax(target + 1, h);
  }
};

#define IMGPIPE_KERNEL(name, args, threads, blocks)                                                    \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ args a) { \
    extern __shared__ __align__(16) char fast[];                                                       \
    body(a, ThreadBlock<threads>{}, fast);                                                             \
  }

#else

/// The one-thread block of the host twin.
struct ThreadBlock {
  i64 index_, count_;
  int first() const { return 0; }
  static constexpr int stride() { return 1; }
  void sync() const {}
  i64 index() const { return index_; }
  i64 count() const { return count_; }
  void add(u64* target, u32 value) const { *target += value; }
  void increment(u64* target) const { ++*target; }
  void increment(u32* target) const { ++*target; }
  void gather(u64* target, u32 value) const { *target += value; }
  template <class T>
  void extrema(u64* keys, T low, T high) const {
    if (!(low <= high)) return;
    const u64 l = ordered_key(double(low)), h = ordered_key(double(high));
    if (l < keys[0]) keys[0] = l;
    if (h > keys[1]) keys[1] = h;
  }
};

#define IMGPIPE_KERNEL(name, args, threads, blocks)                                   \
  extern "C" void name(const void* a, long long index, long long count, char* fast) { \
    body(*static_cast<const args*>(a), ThreadBlock{i64(index), i64(count)}, fast);    \
  }

#endif

}  // namespace imgpipe
