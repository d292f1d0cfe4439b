// PFM files: float32 gray (Pf) or RGB (PF) in either byte order, stored with the bottom row first.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::pfm {

Format spec();

}  // namespace imgpipe::pfm
