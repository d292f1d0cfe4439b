// add: Add a constant or a second image.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::add {

FilterSpec spec();

}  // namespace imgpipe::add
