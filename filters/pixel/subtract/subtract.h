// subtract: Subtract a constant or a second image.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::subtract {

FilterSpec spec();

}  // namespace imgpipe::subtract
