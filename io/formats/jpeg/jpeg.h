// JPEG files, through libjpeg: gray and RGB, 8 bit; CMYK and YCCK become RGB.
// EXIF orientation is applied; any damage but a missing end marker is an error.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::jpeg {

Format spec();

}  // namespace imgpipe::jpeg
