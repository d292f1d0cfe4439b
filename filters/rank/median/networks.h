// Networks of comparisons, made at compile time: sorting, merging, and only what a median needs of them. Applied to
// values in registers they leave straight-line code, which the compiler vectorises over pixels.
#pragma once

#include <bit>
#include <utility>
#include <vector>

namespace imgpipe::median {

struct Comparison {
  int low, high;
};

/// Comparisons in order; afterwards the value of rank k stands on wire outputs[k].
struct Network {
  Comparison steps[256]{};
  int count = 0;
  int outputs[64]{};
  constexpr void add(int low, int high) { steps[count++] = {low, high}; }
};

/// The order in which Batcher's merge exchange compares `wires` wires: calls f(low, high).
template <class F>
constexpr void merge_exchange(int wires, F&& f) {
  if (wires < 2) return;
  const int top = static_cast<int>(std::bit_floor(static_cast<unsigned>(wires - 1)));
  for (int p = top; p > 0; p /= 2)
    for (int q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
      for (int i = 0; i + d < wires; ++i)
        if ((i & p) == r) f(i, i + d);
      if (q == p) break;
    }
}

constexpr Network sorting(int wires) {
  Network n;
  merge_exchange(wires, [&](int low, int high) { n.add(low, high); });
  for (int k = 0; k < wires; ++k) n.outputs[k] = k;
  return n;
}

/// Merges the sorted wires a[0, m) and b[0, n) by odd and even places; `out` gets the wires in order.
constexpr void merge_wires(Network& net, const int* a, int m, const int* b, int n, int* out) {
  if (m == 0 || n == 0) {
    for (int i = 0; i < m + n; ++i) out[i] = m == 0 ? b[i] : a[i];
    return;
  }
  if (m == 1 && n == 1) {
    net.add(out[0] = a[0], out[1] = b[0]);
    return;
  }
  int parts[2][2][32]{}, sizes[2][2]{}, merged[2][64]{};
  for (int i = 0; i < m; ++i) parts[i % 2][0][sizes[i % 2][0]++] = a[i];
  for (int i = 0; i < n; ++i) parts[i % 2][1][sizes[i % 2][1]++] = b[i];
  for (int half = 0; half < 2; ++half)
    merge_wires(net, parts[half][0], sizes[half][0], parts[half][1], sizes[half][1], merged[half]);
  // The even places' first is the least of all; then the two lists compare their neighbours.
  const int evens = sizes[0][0] + sizes[0][1], odds = sizes[1][0] + sizes[1][1];
  int k = 0, even = 0, odd = 0;
  out[k++] = merged[0][even++];
  while (odd < odds && even < evens) {
    net.add(out[k] = merged[1][odd++], out[k + 1] = merged[0][even++]);
    k += 2;
  }
  while (odd < odds) out[k++] = merged[1][odd++];
  while (even < evens) out[k++] = merged[0][even++];
}

/// Merges two sorted lists of m and n wires; only ranks [first, last) need be right.
constexpr Network merging(int m, int n, int first, int last) {
  Network all, used;
  int a[32]{}, b[32]{};
  for (int i = 0; i < m; ++i) a[i] = i;
  for (int i = 0; i < n; ++i) b[i] = m + i;
  merge_wires(all, a, m, b, n, all.outputs);
  bool live[64]{}, needed[256]{};
  for (int k = first; k < last; ++k) live[all.outputs[k]] = true;
  for (int s = all.count; s-- > 0;) {
    const Comparison& c = all.steps[s];
    needed[s] = live[c.low] || live[c.high];
    if (needed[s]) live[c.low] = live[c.high] = true;
  }
  for (int s = 0; s < all.count; ++s)
    if (needed[s]) used.add(all.steps[s].low, all.steps[s].high);
  for (int k = 0; k < m + n; ++k) used.outputs[k] = all.outputs[k];
  return used;
}

/// Comparisons that bring the median of `wires` wires to wire wires / 2.
inline std::vector<Comparison> median_network(int wires) {
  std::vector<Comparison> all, used;
  merge_exchange(wires, [&](int low, int high) { all.push_back({low, high}); });
  std::vector<bool> live(wires, false);
  live[wires / 2] = true;
  for (auto c = all.rbegin(); c != all.rend(); ++c) {
    if (!live[c->low] && !live[c->high]) continue;
    live[c->low] = live[c->high] = true;
    used.insert(used.begin(), *c);
  }
  return used;
}

template <class T>
inline __attribute__((always_inline)) T lower(T a, T b) {
  return b < a ? b : a;
}
template <class T>
inline __attribute__((always_inline)) T upper(T a, T b) {
  return a < b ? b : a;
}
template <class T>
inline __attribute__((always_inline)) void sort(T& a, T& b) {
  const T low = lower(a, b);
  b = upper(a, b);
  a = low;
}

template <const Network& N, class T>
inline __attribute__((always_inline)) void apply(T* wires) {
  [&]<std::size_t... S>(std::index_sequence<S...>) __attribute__((always_inline)) {
    (sort(wires[N.steps[S].low], wires[N.steps[S].high]), ...);
  }
  (std::make_index_sequence<N.count>{});
}

}  // namespace imgpipe::median
