// Order statistics in registers: minimum and maximum in which NaN wins, exchanges, and merging networks on arrays
// with compile-time indices. What a result does not need, the compiler drops.
// Zeros of both signs are equal here: who shows a result adds +0 to it, so that its sign does not depend on the order.
#pragma once

#include "filters/base/device.cuh"

namespace imgpipe::order {

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
IMGPIPE_FN float least(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
IMGPIPE_FN float most(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
#else
IMGPIPE_FN float least(float a, float b) { return b < a || b != b ? b : a; }
IMGPIPE_FN float most(float a, float b) { return a < b || b != b ? b : a; }
#endif
IMGPIPE_FN double least(double a, double b) { return b < a || b != b ? b : a; }
IMGPIPE_FN double most(double a, double b) { return a < b || b != b ? b : a; }

/// Two unsigned 16-bit values, compared side by side.
struct Two {
  u32 halves;
};
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
IMGPIPE_FN Two least(Two a, Two b) { return {__vminu2(a.halves, b.halves)}; }
IMGPIPE_FN Two most(Two a, Two b) { return {__vmaxu2(a.halves, b.halves)}; }
IMGPIPE_FN u32 low_halves(u32 first, u32 second) { return __byte_perm(first, second, 0x5410); }
#else
IMGPIPE_FN u32 low_halves(u32 first, u32 second) { return (first & 0xffffu) | second << 16; }
IMGPIPE_FN Two least(Two a, Two b) {
  const u32 x = a.halves & 0xffffu, y = b.halves & 0xffffu, v = a.halves >> 16, w = b.halves >> 16;
  return {low_halves(y < x ? y : x, w < v ? w : v)};
}
IMGPIPE_FN Two most(Two a, Two b) {
  const u32 x = a.halves & 0xffffu, y = b.halves & 0xffffu, v = a.halves >> 16, w = b.halves >> 16;
  return {low_halves(x < y ? y : x, v < w ? w : v)};
}
#endif

template <class T>
IMGPIPE_FN void exchange(T& low, T& high) {
  const T a = low, b = high;
  low = least(a, b);
  high = most(a, b);
}

template <class T>
IMGPIPE_FN T middle(T a, T b, T c) {
  return most(least(a, b), least(most(a, b), c));
}

/// Puts `v` into its place in a sorted list: out[0 … N] from in[0 … N).
template <int N, class T>
IMGPIPE_FN void insert(const T (&in)[N], T v, T (&out)[N + 1]) {
  IMGPIPE_UNROLL
  for (int i = 0; i < N; ++i) {
    out[i] = in[i];
    exchange(out[i], v);
  }
  out[N] = v;
}

/// Batcher's odd-even merge of two sorted lists.
template <int M, int N, class T>
IMGPIPE_FN void merge(const T* a, int a_step, const T* b, int b_step, T* c) {
  if constexpr (M == 0 || N == 0) {
    IMGPIPE_UNROLL
    for (int i = 0; i < M + N; ++i) c[i] = M == 0 ? b[i * b_step] : a[i * a_step];
  } else if constexpr (M == 1 && N == 1) {
    c[0] = least(*a, *b);
    c[1] = most(*a, *b);
  } else {
    constexpr int d_count = (M + 1) / 2 + (N + 1) / 2, e_count = M / 2 + N / 2;
    T d[d_count], e[e_count];
    merge<(M + 1) / 2, (N + 1) / 2>(a, 2 * a_step, b, 2 * b_step, d);
    merge<M / 2, N / 2>(a + a_step, 2 * a_step, b + b_step, 2 * b_step, e);
    c[0] = d[0];
    IMGPIPE_UNROLL
    for (int i = 0; i < e_count; ++i) {
      if (i + 1 < d_count) {
        c[2 * i + 1] = least(e[i], d[i + 1 < d_count ? i + 1 : 0]);
        c[2 * i + 2] = most(e[i], d[i + 1 < d_count ? i + 1 : 0]);
      } else {
        c[2 * i + 1] = e[i];
      }
    }
    if constexpr (d_count == e_count + 2) c[M + N - 1] = d[d_count - 1];
  }
}
template <int M, int N, class T>
IMGPIPE_FN void merge(const T (&a)[M], const T (&b)[N], T (&c)[M + N]) {
  merge<M, N>(&a[0], 1, &b[0], 1, &c[0]);
}

/// The value of rank N + 1 among a sorted list of N + 1 values and another of N.
template <int N, class T>
IMGPIPE_FN T middle_of(const T* a, const T (&b)[N]) {
  T v = a[N];
  IMGPIPE_UNROLL
  for (int i = 0; i < N; ++i) v = least(v, most(a[N - 1 - i], b[i]));
  return v;
}

/// The median of N (odd, at least 3) values: a set forgets its least and its most and takes in the next value.
template <int N, class T>
IMGPIPE_FN T median(const T (&v)[N]) {
  constexpr int start = N / 2 + 2;
  T set[start];
  IMGPIPE_UNROLL
  for (int i = 0; i < start; ++i) set[i] = v[i];
  IMGPIPE_UNROLL
  for (int size = start; size >= 3; --size) {
    IMGPIPE_UNROLL
    for (int i = 1; i < size; ++i) exchange(set[0], set[i]);
    IMGPIPE_UNROLL
    for (int i = 1; i < size - 1; ++i) exchange(set[i], set[size - 1]);
    if (size > 3) set[0] = v[2 * start - size];
  }
  return set[1];
}

}  // namespace imgpipe::order
