// convert: change the dtype and keep the values.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::convert {

struct Params {
  DType to = DType::f32;
};

FilterSpec spec();

}  // namespace imgpipe::convert
