// BMP files of Windows and OS/2: palettes, 16 to 32 bits a pixel with any masks, run lengths, either row order.
// A palette of grays is read as gray; alpha is read where the file declares a mask for it; resolution is the spacing.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::bmp {

Format spec();

}  // namespace imgpipe::bmp
