// open: opening: erosion, then dilation.
#pragma once

#include "filters/morphology/extreme.h"

namespace imgpipe::open {

using Params = extreme::Params;

FilterSpec spec();

}  // namespace imgpipe::open
