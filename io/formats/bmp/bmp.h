// BMP files, Windows and OS/2: palettes, bitfields and run lengths are expanded to uint8 gray, RGB or RGBA.
// A palette of grays is one channel: BMP has no other way to hold gray.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::bmp {

Format spec();

}  // namespace imgpipe::bmp
