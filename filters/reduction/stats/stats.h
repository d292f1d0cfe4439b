// stats: numbers over the image, into the report.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::stats {

struct Params {
  std::vector<double> percentiles{1, 50, 99};
};

FilterSpec spec();

}  // namespace imgpipe::stats
