// EXIF orientation, as JPEG, PNG, WebP and TIFF files carry it: finding it and applying it.
// The numbers 1..8 are those of EXIF and TIFF 6.0; reading applies them and drops the tag.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/image/image.h"

namespace imgpipe {

/// The orientation an EXIF block (a TIFF header and its first IFD, with or without "Exif\0\0" before it) gives;
/// 1 when it gives none or is damaged.
int exif_orientation(std::span<const std::byte> block);

/// The image as it is to be seen: every slice flipped and turned. Orientation 1 and values outside 1..8 do nothing.
Image apply_orientation(Image image, int orientation);

/// What `apply_orientation` does to the description: 5..8 swap width and height, and x and y of the geometry.
void orient(ImageDesc& desc, int orientation);

/// "orientation 6 applied".
std::string orientation_note(int orientation);

}  // namespace imgpipe
