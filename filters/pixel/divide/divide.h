// divide: Divide by a constant or a second image.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::divide {

FilterSpec spec();

}  // namespace imgpipe::divide
