// Reductions over a stored image on the CPU, by definition: fixed orders, exact order statistics.
#pragma once

#include <limits>

#include "pipeline/exec/executor.h"

namespace imgpipe {

/// Smallest and largest number so far; NaN, NaN before the first. NaN samples are left out.
class Extrema {
 public:
  void add(const void* samples, DType dtype, std::int64_t count);
  void merge(const Extrema& other);
  /// -0 and 0 are one value: 0.
  std::vector<double> scalars() const;

 private:
  void merge_numbers(double low, double high);
  double low_ = std::numeric_limits<double>::quiet_NaN();
  double high_ = std::numeric_limits<double>::quiet_NaN();
};

/// The scalars of `reduce` over the colour samples of `image` (alpha and NaN left out).
std::vector<double> reduce_image(const ReduceOp& reduce, const ConstImageView& image, int colours, bool whole);

/// Sums are taken in blocks of this many samples, each in `sum_lanes` interleaved lanes, then pairwise.
inline constexpr int sum_block = 4096;
inline constexpr int sum_lanes = 256;

}  // namespace imgpipe
