// PNG files, through libpng: 8 and 16 bit, gray, gray+alpha, RGB and RGBA; palettes are expanded.
// eXIf orientation is applied; pHYs in metres is the spacing.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::png {

Format spec();

}  // namespace imgpipe::png
