// WebP files, through libwebp: uint8 RGB and RGBA, lossy and lossless, no animations.
// EXIF orientation is applied.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::webp {

Format spec();

}  // namespace imgpipe::webp
