// Netpbm files (P1 to P7) and PFM: uint8, uint16 and float32. Samples keep their values whatever the file's maxval is;
// bitmaps become 0 and 255. Binary files may hold several images: pages.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::pnm {

Format spec();

}  // namespace imgpipe::pnm
