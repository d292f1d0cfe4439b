// NumPy arrays (.npy): (z, y, x, channel) without the axes they lack; a 1D array is an image of height 1.
// Colour images of one plane are written as (1, y, x, channel), so that they read back with the same meaning.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::npy {

Format spec();

}  // namespace imgpipe::npy
