// What a generated kernel is composed of: passes over packs of pixels, sinks, numbers over the image, and the block.
// One kernel runs one group of the plan; the same source runs on the host with one thread a block.
#pragma once

#include "filters/base/samples.cuh"

namespace imgpipe {

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
  static constexpr int threads = THREADS;
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

/// The one-thread block of the host twin. It shares out work as a block of THREADS threads does.
template <int THREADS>
struct ThreadBlock {
  static constexpr int threads = THREADS;
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

#define IMGPIPE_KERNEL(name, args, threads, blocks)                                         \
  extern "C" void name(const void* a, long long index, long long count, char* fast) {       \
    body(*static_cast<const args*>(a), ThreadBlock<threads>{i64(index), i64(count)}, fast); \
  }

#endif

}  // namespace imgpipe
