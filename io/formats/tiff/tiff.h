// TIFF through libtiff: integers and floats of every depth, pages, tiles, strips, planes, BigTIFF, both byte orders.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::tiff {

/// Whether a file of so many bytes of samples and pages must be a BigTIFF.
bool needs_big(std::int64_t sample_bytes, std::size_t pages, std::int64_t strips);

Format spec();

}  // namespace imgpipe::tiff
