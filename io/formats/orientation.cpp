#include "io/formats/orientation.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace imgpipe {
namespace {

bool swaps_axes(int orientation) { return orientation >= 5 && orientation <= 8; }
bool mirrors_x(int orientation) { return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8; }
bool mirrors_y(int orientation) { return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7; }
bool changes(int orientation) { return orientation >= 2 && orientation <= 8; }

/// Numbers of an EXIF block in its own byte order; nothing past its end.
struct ExifBlock {
  std::span<const std::byte> bytes;
  bool big_endian = false;

  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t shift = 8 * (big_endian ? size - 1 - i : i);
      value |= static_cast<std::uint32_t>(bytes[at + i]) << shift;
    }
    return value;
  }
};

bool begins_with(std::span<const std::byte> bytes, const char* text, std::size_t size) {
  return bytes.size() >= size && std::memcmp(bytes.data(), text, size) == 0;
}

/// A stretch of one slice: where pixel (0, 0) of the result is in the source, and the steps to its neighbours.
struct Walk {
  std::ptrdiff_t start = 0, step_x = 0, step_y = 0;
};

Walk walk_of(const Extent& from, int orientation, std::ptrdiff_t pixel_bytes) {
  const std::ptrdiff_t row_bytes = from.width * pixel_bytes;
  const std::ptrdiff_t x = mirrors_x(orientation) ? -pixel_bytes : pixel_bytes;
  const std::ptrdiff_t y = mirrors_y(orientation) ? -row_bytes : row_bytes;
  Walk walk;
  if (mirrors_x(orientation)) walk.start += row_bytes - pixel_bytes;
  if (mirrors_y(orientation)) walk.start += (from.height - 1) * row_bytes;
  walk.step_x = swaps_axes(orientation) ? y : x;
  walk.step_y = swaps_axes(orientation) ? x : y;
  return walk;
}

template <std::size_t fixed_bytes>
void copy_slice(std::byte* to, const std::byte* from, const Extent& size, const Walk& walk, std::size_t pixel_bytes) {
  const std::size_t bytes = fixed_bytes ? fixed_bytes : pixel_bytes;
  constexpr std::int64_t tile = 32;  // a turned image reads down columns: tiles keep those lines in the cache
  for (std::int64_t y0 = 0; y0 < size.height; y0 += tile)
    for (std::int64_t x0 = 0; x0 < size.width; x0 += tile)
      for (std::int64_t y = y0; y < std::min(y0 + tile, size.height); ++y) {
        std::byte* out = to + (y * size.width + x0) * static_cast<std::ptrdiff_t>(bytes);
        const std::byte* in = from + walk.start + y * walk.step_y + x0 * walk.step_x;
        for (std::int64_t x = x0; x < std::min(x0 + tile, size.width); ++x) {
          std::memcpy(out, in, bytes);
          out += bytes;
          in += walk.step_x;
        }
      }
}

auto slice_copier(std::size_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1:
      return copy_slice<1>;
    case 2:
      return copy_slice<2>;
    case 3:
      return copy_slice<3>;
    case 4:
      return copy_slice<4>;
    case 6:
      return copy_slice<6>;
    case 8:
      return copy_slice<8>;
    case 12:
      return copy_slice<12>;
    case 16:
      return copy_slice<16>;
    default:
      return copy_slice<0>;
  }
}

}  // namespace

int exif_orientation(std::span<const std::byte> block) {
  if (begins_with(block, "Exif\0\0", 6)) block = block.subspan(6);
  ExifBlock exif{block};
  if (begins_with(block, "MM\0*", 4))
    exif.big_endian = true;
  else if (!begins_with(block, "II*\0", 4))
    return 1;
  const auto ifd = exif.number(4, 4);
  const auto entries = ifd ? exif.number(*ifd, 2) : std::nullopt;
  for (std::size_t i = 0; entries && i < *entries; ++i) {
    const std::size_t at = *ifd + 2 + i * 12;
    const auto tag = exif.number(at, 2), type = exif.number(at + 2, 2), count = exif.number(at + 4, 4);
    if (!tag || !type || !count) return 1;
    if (*tag != 0x0112) continue;
    if (*count != 1 || (*type != 3 && *type != 4)) return 1;
    const auto value = exif.number(at + 8, *type == 3 ? 2 : 4);
    return value && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
  }
  return 1;
}

Image apply_orientation(Image image, int orientation) {
  if (!changes(orientation)) return image;
  ImageDesc desc = image.desc();
  const Extent from = desc.extent;
  orient(desc, orientation);
  Image turned(desc);
  const std::size_t pixel_bytes = size_of(desc.dtype) * static_cast<std::size_t>(desc.channels);
  const std::size_t slice_bytes = pixel_bytes * static_cast<std::size_t>(from.width * from.height);
  const Walk walk = walk_of(from, orientation, static_cast<std::ptrdiff_t>(pixel_bytes));
  const auto copy = slice_copier(pixel_bytes);
  for (std::int64_t z = 0; z < from.depth; ++z)
    copy(turned.data() + z * slice_bytes, image.data() + z * slice_bytes, desc.extent, walk, pixel_bytes);
  return turned;
}

void orient(ImageDesc& desc, int orientation) {
  if (!swaps_axes(orientation)) return;
  std::swap(desc.extent.width, desc.extent.height);
  std::swap(desc.geometry.spacing[0], desc.geometry.spacing[1]);
  std::swap(desc.geometry.origin[0], desc.geometry.origin[1]);
}

std::string orientation_note(int orientation) { return "orientation " + std::to_string(orientation) + " applied"; }

}  // namespace imgpipe
