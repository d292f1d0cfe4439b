#pragma once

#include "filters/base/maths.cuh"

namespace imgpipe::otsu {

/// Otsu's threshold of a histogram, the last number of the lower class's bins; and how many bins are filled.
struct Finish {
  IMGPIPE_FN void operator()(const u64* counts, int bins, double low, double width, double* scalars) const {
    double total = 0, weighted = 0;
    int last = 0, filled = 0;
    for (int k = 0; k < bins; ++k) {
      const double n = double(counts[k]);
      total = total + n;
      weighted = weighted + n * double(k);
      last = counts[k] ? k : last;
      filled += counts[k] > 0;
    }
    double below = 0, below_weighted = 0, best = -1;
    int split = last;
    for (int k = 0; k < last; ++k) {
      below = below + double(counts[k]);
      below_weighted = below_weighted + double(counts[k]) * double(k);
      const double above = total - below;
      if (below == 0) continue;
      const double gap = below_weighted / below - (weighted - below_weighted) / above;
      const double variance = below * above * (gap * gap);
      if (variance > best) {
        best = variance;
        split = k;
      }
    }
    scalars[0] = total == 0   ? maths::quiet_nan(0.0)
                 : width == 0 ? low
                              : maths::next_below(low + double(split + 1) * width);
    scalars[1] = filled;
  }
};

}  // namespace imgpipe::otsu
