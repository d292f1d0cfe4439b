// dilate: dilation: the greatest value of a window.
#pragma once

#include "filters/morphology/extreme.h"

namespace imgpipe::dilate {

using Params = extreme::Params;

FilterSpec spec();

}  // namespace imgpipe::dilate
