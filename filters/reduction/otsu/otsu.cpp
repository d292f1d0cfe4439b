#include "filters/reduction/otsu/otsu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "filters/pixel/threshold/threshold.h"
#include "filters/reduction/otsu/otsu.cuh"

namespace imgpipe::otsu {
namespace {

/// The split that maximises the between-class variance; of equal ones the first.
int best_split(std::span<const std::uint64_t> counts, double total, double weighted) {
  int last = 0;
  for (std::size_t k = 0; k < counts.size(); ++k)
    if (counts[k]) last = static_cast<int>(k);
  double below = 0, below_weighted = 0, best = -1;
  int split = last;
  for (int k = 0; k < last; ++k) {
    below += static_cast<double>(counts[k]);
    below_weighted += static_cast<double>(counts[k]) * k;
    if (below == 0) continue;
    const double above = total - below;
    const double gap = below_weighted / below - (weighted - below_weighted) / above;
    const double variance = below * above * (gap * gap);
    if (variance > best) {
      best = variance;
      split = k;
    }
  }
  return split;
}

void finish(std::span<const std::uint64_t> counts, double low, double width, double* scalars) {
  double total = 0, weighted = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    total += static_cast<double>(counts[k]);
    weighted += static_cast<double>(counts[k]) * static_cast<double>(k);
  }
  const int split = best_split(counts, total, weighted);
  scalars[1] = static_cast<double>(std::count_if(counts.begin(), counts.end(), [](std::uint64_t n) { return n > 0; }));
  // A bin holds its lower end: the threshold is the last number before the upper class.
  const double upper = low + (split + 1) * width;
  scalars[0] = width == 0 ? low : std::nextafter(upper, -std::numeric_limits<double>::infinity());
  if (total == 0) scalars[0] = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Value build(Builder& b, Value in, int bins) {
  ReduceOp op;
  op.kind = ReduceOp::Kind::histogram;
  op.bins = bins;
  op.scalars = 2;
  op.finish = finish;
  op.finish_device.header = "filters/reduction/otsu/otsu.cuh";
  op.finish_device.type = "otsu::Finish";
  const Scalars scalars = b.reduce(in, std::move(op));
  b.warn(scalars, [](std::span<const double> s) {
    return s[1] > 1 ? "" : "the image has one value only, or none: the mask is empty";
  });
  return threshold::above(b, in, scalars, 0);
}

FilterSpec spec() {
  return declare(
      "reduction",
      Filter<Params>{
          .name = "otsu",
          .summary = "Make a mask by Otsu's threshold.",
          .kind = Kind::reduction,
          .params = {field("bins", &Params::bins, Range{2, 65536}, "",
                           "Histogram bins between minimum and maximum, for images that are not 8- or 16-bit.")},
          .result = "uint8, 0 or 255",
          .formula = "Maximises the between-class variance (Otsu 1979) over the histogram of every value (8/16-bit) or "
                     "of `bins` bins; the upper class is foreground. All colours together; NaN and alpha left out. A "
                     "constant image gives an empty mask.",
          .build = [](Builder& b, const StepInputs& in, const Params& p) { return build(b, in.image, p.bins); },
          .examples = {"{bins: 64}"},
      });
}

}  // namespace imgpipe::otsu
