// PBM, PGM and PPM files, text and raw: bitmaps are read as gray, all else keeps its samples, whatever its maxval.
// Raw files may hold several images one after another: they are pages.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::pnm {

Format spec();

}  // namespace imgpipe::pnm
