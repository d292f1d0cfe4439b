// erode: erosion: the least value of a window.
#pragma once

#include "filters/morphology/extreme.h"

namespace imgpipe::erode {

using Params = extreme::Params;

FilterSpec spec();

}  // namespace imgpipe::erode
