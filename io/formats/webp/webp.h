// WebP files, through libwebp: uint8 RGB and RGBA, lossy and lossless; of an animation the first frame.
// EXIF orientation is applied. Quality 100 writes lossless.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::webp {

Format spec();

}  // namespace imgpipe::webp
