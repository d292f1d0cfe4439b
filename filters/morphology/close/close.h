// close: closing: dilation, then erosion.
#pragma once

#include "filters/morphology/extreme.h"

namespace imgpipe::close {

using Params = extreme::Params;

FilterSpec spec();

}  // namespace imgpipe::close
