// RLE8 and RLE4 of BMP files.
#pragma once

#include <cstdint>
#include <vector>

#include "io/formats/bmp/header.h"

namespace imgpipe::bmp {

/// The palette index of every pixel, rows from the bottom up.
struct Indices {
  std::vector<std::uint8_t> values;
  bool skipped = false;  ///< some pixels were passed over: they have index 0
};

/// Throws InputError when the data end early or leave the image.
Indices decode_run_lengths(const InputFile& file, const Header& header);

}  // namespace imgpipe::bmp
