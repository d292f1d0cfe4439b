// How pixels outside the image are made up. By picture, the edge at |:
//   reflect101 dcb|abcd   reflect cba|abc   replicate aaa|abc   wrap bcd|abcd   constant 000|abc
#pragma once

#include <cstdint>

namespace imgpipe {

enum class Border : std::uint8_t { reflect101, reflect, replicate, wrap, constant };

/// The index inside [0, n) that stands for index i, bouncing as often as needed; -1 for constant when outside.
/// An axis of length 1 replicates (except constant).
inline std::int64_t border_index(std::int64_t i, std::int64_t n, Border border) {
  if (i >= 0 && i < n) return i;
  if (border == Border::constant) return -1;
  if (n == 1) return 0;
  if (border == Border::replicate) return i < 0 ? 0 : n - 1;
  const std::int64_t period = border == Border::reflect101 ? 2 * n - 2 : border == Border::reflect ? 2 * n : n;
  std::int64_t k = i % period;
  if (k < 0) k += period;
  if (k < n) return k;
  return border == Border::reflect101 ? period - k : period - 1 - k;
}

}  // namespace imgpipe
