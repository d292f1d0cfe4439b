// BMP files, Windows and OS/2: palettes, bitfields and run lengths are expanded to uint8 gray, RGB or RGBA.
// A palette of grays is one channel: BMP has no other way to hold gray. Written are 8-bit gray, 24-bit RGB and 32-bit
// RGBA.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::bmp {

Format spec();

}  // namespace imgpipe::bmp
