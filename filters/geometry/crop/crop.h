// crop: cut out a box.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::crop {

struct Params {
  std::vector<std::int64_t> box;  ///< [x, y, width, height] or [x, y, z, width, height, depth]
  std::int64_t x = 0, y = 0, z = 0;
  std::optional<std::int64_t> width, height, depth;
};

FilterSpec spec();

}  // namespace imgpipe::crop
