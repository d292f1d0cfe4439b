// multiply: Multiply by a constant or a second image.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::multiply {

FilterSpec spec();

}  // namespace imgpipe::multiply
