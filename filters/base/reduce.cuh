// Numbers over a stored image on the device: counts, histograms, order statistics, sums in a fixed order.
// Alpha and NaN are left out. Kernels with one-thread parts are launched with one block.
#pragma once

#include "filters/base/group.cuh"

namespace imgpipe {

struct ReduceArgs {
  View view;
  i64 width, height, depth;
  int colours;
  int bins;            ///< of the histogram
  int every_value;     ///< one bin a value of the dtype
  double first_value;  ///< of bin 0 then
  u64* keys;           ///< extrema
  u64* counts;         ///< [numbers, NaN]
  u64* histogram;
  double* sums;     ///< one a block of samples
  double* scalars;  ///< the result
  int targets;      ///< order statistics sought, two a fraction
  int shift;        ///< of the digit at hand
  double fractions[8];
  u64* ranks;
  u64* prefixes;
  int squares;  ///< second pass of the moments
};

IMGPIPE_FN i64 samples_of(const ReduceArgs& a) { return a.width * a.height * a.depth * a.colours; }

/// Sample i in the order (z, y, x, colour).
template <class S>
IMGPIPE_FN S sample_number(const ReduceArgs& a, i64 i) {
  const i64 pixel = i / a.colours;
  const int c = int(i - pixel * a.colours);
  const i64 row = pixel / a.width;
  return *sample_at<const S>(a.view, pixel - row * a.width, row % a.height, row / a.height, c);
}

template <class S, class Block, class F>
IMGPIPE_FN void for_samples(const ReduceArgs& a, const Block& block, const F& f) {
  const i64 n = samples_of(a), step = block.count() * block.stride();
  for (i64 i = block.index() * block.stride() + block.first(); i < n; i += step) f(sample_number<S>(a, i));
}

template <class S, class Block>
IMGPIPE_FN void reduce_extrema(const ReduceArgs& a, const Block& block, char*) {
  ExtremaCount<double> e;
  u32 numbers = 0, nans = 0;
  for_samples<S>(a, block, [&](S s) {
    const double v = double(s);
    e.add(v);
    v == v ? ++numbers : ++nans;
  });
  block.extrema(a.keys, e.low, e.high);
  block.add(a.counts, numbers);
  block.add(a.counts + 1, nans);
}

// ---- histogram

struct Bins {
  double low, width;
};
IMGPIPE_FN Bins bins_of(const ReduceArgs& a) {
  if (a.every_value) return {a.first_value, 1.0};
  double ends[2];
  read_extrema(a.keys, ends);
  return {ends[0], (ends[1] - ends[0]) / a.bins};
}

template <class S, class Block>
IMGPIPE_FN void reduce_histogram(const ReduceArgs& a, const Block& block, char* fast) {
  const Bins bins = bins_of(a);
  u32* own = reinterpret_cast<u32*>(fast);
  const bool shared = a.bins <= 4096;
  if (shared) {
    for (int b = block.first(); b < a.bins; b += block.stride()) own[b] = 0;
    block.sync();
  }
  for_samples<S>(a, block, [&](S s) {
    const double v = double(s);
    if (v != v) return;
    const double place = bins.width > 0 ? (v - bins.low) / bins.width : 0.0;
    int bin = place < a.bins ? int(place) : a.bins - 1;
    bin = bin < 0 ? 0 : bin;
    if (shared)
      block.increment(own + bin);
    else
      block.increment(a.histogram + bin);
  });
  if (!shared) return;
  block.sync();
  for (int b = block.first(); b < a.bins; b += block.stride()) block.gather(a.histogram + b, own[b]);
}

template <class Finish, class Block>
IMGPIPE_FN void finish_histogram(const ReduceArgs& a, const Block& block, char*) {
  if (block.first() != 0) return;
  const Bins bins = bins_of(a);
  Finish{}(a.histogram, a.bins, bins.low, bins.width, a.scalars);
}

// ---- moments

/// Sums of 4096 samples in 256 interleaved lanes and then pairwise: the order never depends on the launch.
template <class S, class Block>
IMGPIPE_FN void reduce_sums(const ReduceArgs& a, const Block& block, char* fast) {
  constexpr int lanes = 256, chunk = 4096;
  double* lane = reinterpret_cast<double*>(fast);
  const i64 n = samples_of(a), chunks = (n + chunk - 1) / chunk;
  const double mean = a.squares ? a.scalars[4] : 0.0;
  for (i64 k = block.index(); k < chunks; k += block.count()) {
    for (int l = block.first(); l < lanes; l += block.stride()) {
      double sum = 0;
      for (i64 i = k * chunk + l; i < n && i < (k + 1) * chunk; i += lanes) {
        const double v = double(sample_number<S>(a, i));
        const double term = a.squares ? (v - mean) * (v - mean) : v;
        sum += v == v ? term : 0.0;
      }
      lane[l] = sum;
    }
    block.sync();
    for (int width = lanes / 2; width > 0; width /= 2) {
      for (int l = block.first(); l < width; l += block.stride()) lane[l] += lane[l + width];
      block.sync();
    }
    if (block.first() == 0) a.sums[k] = lane[0];
    block.sync();
  }
}

template <class Block>
IMGPIPE_FN void finish_sums(const ReduceArgs& a, const Block& block, char*) {
  if (block.first() != 0) return;
  const i64 chunks = (samples_of(a) + 4095) / 4096;
  double sum = 0;
  for (i64 k = 0; k < chunks; ++k) sum += a.sums[k];
  const double n = double(a.counts[0]), none = maths::quiet_nan(0.0);
  if (a.squares) {
    a.scalars[5] = n > 0 ? maths::sqrt(sum / n) : none;
    return;
  }
  a.scalars[0] = n;
  a.scalars[1] = double(a.counts[1]);
  read_extrema(a.keys, a.scalars + 2);
  a.scalars[4] = n > 0 ? sum / n : none;
}

// ---- order statistics, by digits of an order-preserving key

IMGPIPE_FN u64 select_key(double v, u64) { return ordered_key(v + 0.0); }
IMGPIPE_FN u64 select_key(float v, u64) {
  const u32 bits = maths::bits_of(v + 0.0f);
  return bits >> 31 ? u32(~bits) : bits | (u32(1) << 31);
}
template <class S>
IMGPIPE_FN u64 select_key(S v, u64 first) {
  return u64(i64(v) - i64(first));
}
IMGPIPE_FN double select_value(u64 key, double, i64) { return from_ordered_key(key); }
IMGPIPE_FN double select_value(u64 key, float, i64) {
  const u32 k = u32(key);
  return double(maths::float_from_bits(k >> 31 ? k & ~(u32(1) << 31) : ~k));
}
template <class S>
IMGPIPE_FN double select_value(u64 key, S, i64 first) {
  return double(i64(key) + first);
}

template <class Block>
IMGPIPE_FN void select_start(const ReduceArgs& a, const Block& block, char*) {
  if (block.first() != 0) return;
  for (int t = 0; t < a.targets; ++t) {
    const double place = a.fractions[t / 2] * double(a.counts[0] - 1);
    const double below = maths::floor(place);
    a.ranks[t] = a.counts[0] == 0 ? 0 : u64(below) + (t % 2 == 1 && place > below ? 1 : 0);
    a.prefixes[t] = 0;
  }
}

template <class S, class Block>
IMGPIPE_FN void select_count(const ReduceArgs& a, const Block& block, char* fast) {
  u32* own = reinterpret_cast<u32*>(fast);
  for (int b = block.first(); b < 256 * a.targets; b += block.stride()) own[b] = 0;
  block.sync();
  const i64 first = i64(a.first_value);
  for_samples<S>(a, block, [&](S s) {
    if (s != s) return;
    const u64 key = select_key(s, u64(first));
    const u64 above = a.shift + 8 >= 64 ? 0 : key >> (a.shift + 8);
    for (int t = 0; t < a.targets; ++t)
      if (above == a.prefixes[t]) block.increment(own + 256 * t + int(key >> a.shift & 255));
  });
  block.sync();
  for (int b = block.first(); b < 256 * a.targets; b += block.stride()) block.gather(a.histogram + b, own[b]);
}

/// Finds the digit of every target and clears the counts for the next one.
template <class Block>
IMGPIPE_FN void select_step(const ReduceArgs& a, const Block& block, char*) {
  for (int t = block.first(); t < a.targets; t += block.stride()) {
    u64 before = 0;
    int digit = 0;
    while (digit < 255 && before + a.histogram[256 * t + digit] <= a.ranks[t]) before += a.histogram[256 * t + digit++];
    a.ranks[t] -= before;
    a.prefixes[t] = a.prefixes[t] << 8 | u64(digit);
    for (int d = 0; d < 256; ++d) a.histogram[256 * t + d] = 0;
  }
}

template <class S, class Block>
IMGPIPE_FN void select_finish(const ReduceArgs& a, const Block& block, char*) {
  if (block.first() != 0) return;
  const i64 first = i64(a.first_value);
  for (int k = 0; k < a.targets / 2; ++k) {
    if (a.counts[0] == 0) {
      a.scalars[k] = maths::quiet_nan(0.0);
      continue;
    }
    const double place = a.fractions[k] * double(a.counts[0] - 1);
    const double part = place - maths::floor(place);
    const double low = select_value(a.prefixes[2 * k], S(0), first);
    const double high = select_value(a.prefixes[2 * k + 1], S(0), first);
    a.scalars[k] = part > 0 ? maths::fma(part, high - low, low) : low;
  }
}

}  // namespace imgpipe
