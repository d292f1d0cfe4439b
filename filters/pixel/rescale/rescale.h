// rescale: change the dtype and map the nominal range.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::rescale {

struct Params {
  DType to = DType::u8;
};

Value build(Builder& b, Value in, DType to);

FilterSpec spec();

}  // namespace imgpipe::rescale
