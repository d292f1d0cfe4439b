// PBM, PGM, PPM and PAM files (P1 to P7): uint8 and uint16.
// Samples are scaled so that the file's maxval is the white of the type.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::pnm {

Format spec();

}  // namespace imgpipe::pnm
