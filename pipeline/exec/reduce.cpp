#include "pipeline/exec/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace imgpipe {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Calls `f(double)` for every colour sample in memory order (z, y, x, channel).
template <class F>
void for_each_sample(const ConstImageView& image, int colours, F&& f) {
  visit_dtype(image.dtype, [&](auto t) {
    const auto* samples = image.samples<decltype(t)>();
    for (std::int64_t z = 0; z < image.extent.depth; ++z)
      for (std::int64_t y = 0; y < image.extent.height; ++y)
        for (std::int64_t x = 0; x < image.extent.width; ++x)
          for (int c = 0; c < colours; ++c) f(static_cast<double>(samples[image.offset(x, y, z, c)]));
  });
}

template <class T>
IMGPIPE_CLONES void find_extrema(const T* samples, std::int64_t count, T* low, T* high) {
  using Limits = std::numeric_limits<T>;
  T least = Limits::has_infinity ? Limits::infinity() : Limits::max();
  T most = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  for (std::int64_t i = 0; i < count; ++i) {
    least = samples[i] < least ? samples[i] : least;
    most = samples[i] > most ? samples[i] : most;
  }
  *low = least;
  *high = most;
}

std::vector<double> extrema(const ConstImageView& image, int colours) {
  double low = nan, high = nan;
  for_each_sample(image, colours, [&](double v) {
    if (v != v) return;
    if (!(v >= low)) low = v;
    if (!(v <= high)) high = v;
  });
  return {low + 0.0, high + 0.0};
}

std::vector<double> quantiles(const ConstImageView& image, int colours, const std::vector<double>& fractions) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(image.extent.pixels() * colours));
  for_each_sample(image, colours, [&](double v) {
    if (v == v) values.push_back(v + 0.0);
  });
  std::vector<double> result;
  for (double fraction : fractions) {
    if (values.empty()) {
      result.push_back(nan);
      continue;
    }
    const double place = fraction * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const double part = place - std::floor(place);
    std::nth_element(values.begin(), values.begin() + below, values.end());
    const double low = values[below];
    double high = low;
    if (part > 0) high = *std::min_element(values.begin() + below + 1, values.end());
    result.push_back(part > 0 ? std::fma(part, high - low, low) : low);
  }
  return result;
}

/// Sums f(v) over all numbers in the fixed blocked order.
template <class F>
double blocked_sum(const ConstImageView& image, int colours, F&& f) {
  std::vector<double> blocks;
  std::vector<double> lanes(sum_lanes, 0.0);
  std::int64_t at = 0;
  const auto close = [&] {
    for (int width = sum_lanes / 2; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
    blocks.push_back(lanes[0]);
    std::fill(lanes.begin(), lanes.end(), 0.0);
  };
  for_each_sample(image, colours, [&](double v) {
    lanes[at % sum_lanes] += v == v ? f(v) : 0.0;
    if (++at % sum_block == 0) close();
  });
  if (at % sum_block != 0) close();
  double sum = 0;
  for (double block : blocks) sum += block;
  return sum;
}

std::vector<double> moments(const ConstImageView& image, int colours) {
  std::uint64_t count = 0, nans = 0;
  for_each_sample(image, colours, [&](double v) { v == v ? ++count : ++nans; });
  const std::vector<double> ends = extrema(image, colours);
  const double n = static_cast<double>(count);
  if (count == 0) return {0, static_cast<double>(nans), nan, nan, nan, nan};
  const double mean = blocked_sum(image, colours, [](double v) { return v; }) / n;
  const double squares = blocked_sum(image, colours, [mean](double v) { return (v - mean) * (v - mean); });
  return {n, static_cast<double>(nans), ends[0], ends[1], mean, std::sqrt(squares / n)};
}

std::vector<double> histogram(const ReduceOp& reduce, const ConstImageView& image, int colours, bool whole) {
  const bool every_value = whole && size_of(image.dtype) <= 2;
  double low = 0, width = 1;
  int bins = reduce.bins;
  if (every_value) {
    low = nominal_range(image.dtype).black;
    bins = size_of(image.dtype) == 1 ? 256 : 65536;
  } else {
    const std::vector<double> ends = extrema(image, colours);
    low = ends[0];
    width = (ends[1] - ends[0]) / bins;
  }
  std::vector<std::uint64_t> counts(bins, 0);
  for_each_sample(image, colours, [&](double v) {
    if (v != v) return;
    const double place = width > 0 ? (v - low) / width : 0.0;
    const std::int64_t bin = place < bins ? static_cast<std::int64_t>(place) : bins - 1;
    ++counts[bin < 0 ? 0 : bin];
  });
  std::vector<double> scalars(reduce.scalars);
  reduce.finish(counts, low, width, scalars.data());
  return scalars;
}

}  // namespace

void Extrema::add(const void* samples, DType dtype, std::int64_t count) {
  visit_dtype(dtype, [&](auto t) {
    using T = decltype(t);
    const T* values = static_cast<const T*>(samples);
    T low, high;
    find_extrema(values, count, &low, &high);
    // Nothing but NaN leaves the start values crossed.
    if (low <= high) merge_numbers(low, high);
  });
}

void Extrema::merge_numbers(double low, double high) {
  if (!(low >= low_)) low_ = low;
  if (!(high <= high_)) high_ = high;
}

void Extrema::merge(const Extrema& other) {
  if (other.low_ == other.low_) merge_numbers(other.low_, other.high_);
}

std::vector<double> Extrema::scalars() const { return {low_ + 0.0, high_ + 0.0}; }

std::vector<double> reduce_image(const ReduceOp& reduce, const ConstImageView& image, int colours, bool whole) {
  switch (reduce.kind) {
    case ReduceOp::Kind::extrema:
      return extrema(image, colours);
    case ReduceOp::Kind::quantiles:
      return quantiles(image, colours, reduce.fractions);
    case ReduceOp::Kind::moments:
      return moments(image, colours);
    case ReduceOp::Kind::histogram:
      break;
  }
  return histogram(reduce, image, colours, whole);
}

}  // namespace imgpipe
