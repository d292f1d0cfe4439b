// What the headers of a BMP file say: sizes, the palette and the masks of its pixels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/formats/single_image.h"

namespace imgpipe::bmp {

inline constexpr std::int64_t file_header_bytes = 14;

enum class Compression : std::uint32_t { none = 0, rle8 = 1, rle4 = 2, masks = 3, masks_with_alpha = 6 };

/// The bits of one sample within a pixel of 16 or 32 bits.
class Mask {
 public:
  Mask() = default;
  /// Throws InputError when the bits are not next to each other.
  Mask(const std::string& path, std::uint32_t bits);
  int width() const { return width_; }
  /// Scaled to 0..255, rounded; 0 for a mask without bits.
  std::uint8_t sample(std::uint32_t pixel) const {
    if (width_ == 0) return 0;
    const std::uint64_t value = (pixel & bits_) >> shift_;
    return static_cast<std::uint8_t>((value * 255 + largest_ / 2) / largest_);
  }

 private:
  std::uint32_t bits_ = 0;
  int shift_ = 0, width_ = 0;
  std::uint64_t largest_ = 0;
};

struct Header {
  ImageDesc desc;
  int bits = 0;  ///< a pixel
  Compression compression = Compression::none;
  bool top_down = false;
  bool profile = false;                              ///< an ICC profile, within the file or beside it
  std::int64_t offset = 0;                           ///< of the pixels
  std::vector<std::array<std::uint8_t, 3>> palette;  ///< red, green, blue
  std::array<Mask, 4> masks;                         ///< red, green, blue, alpha
  std::vector<std::string> notes;

  bool run_lengths() const { return compression == Compression::rle8 || compression == Compression::rle4; }
  /// Bytes of a stored row: whole words of four.
  std::int64_t stride() const { return (desc.extent.width * bits + 31) / 32 * 4; }
};

/// Throws InputError, also when the file is too short for its pixels.
Header read_header(const InputFile& file);

}  // namespace imgpipe::bmp
