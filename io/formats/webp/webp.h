// WebP files, through libwebp: uint8 RGB and RGBA, lossy and lossless; gray has no place in the format.
// EXIF orientation is applied; the frames of an animation are pages. Quality 100 writes without loss.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::webp {

Format spec();

}  // namespace imgpipe::webp
