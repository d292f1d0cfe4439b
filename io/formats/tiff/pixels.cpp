// Strips and tiles of a page -> samples, and what palette, white-is-zero and associated alpha ask for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/formats/tiff/open.h"

namespace imgpipe::tiff {
namespace {

/// Raw samples of a page, interleaved, in the stored width (bits below 8 unpacked to bytes).
struct Raw {
  std::vector<std::byte> data;
  std::size_t size;  ///< bytes a sample
};

void unpack(const std::byte* in, std::size_t columns, int bits, std::byte* out) {
  for (std::size_t x = 0; x < columns; ++x) {
    const std::size_t bit = x * bits;
    out[x] = static_cast<std::byte>(static_cast<unsigned>(in[bit / 8]) >> (8 - bits - bit % 8) & ((1u << bits) - 1));
  }
}

/// Copies a block of rows from a decoded strip or tile into its place.
void place(const std::byte* block, std::size_t block_columns, std::size_t x0, std::size_t y0, std::size_t columns,
           std::size_t rows, const Page& p, int plane, Raw& raw) {
  const bool separate = p.planar == PLANARCONFIG_SEPARATE && p.samples > 1;
  const std::size_t channels = separate ? 1 : p.samples, stride = p.samples;
  const std::size_t row_bytes = p.bits < 8 ? (block_columns * p.bits + 7) / 8 : block_columns * channels * raw.size;
  for (std::size_t y = 0; y < rows; ++y) {
    const std::byte* from = block + y * row_bytes;
    std::byte* to = raw.data.data() + ((y0 + y) * p.width + x0) * stride * raw.size;
    if (p.bits < 8)
      unpack(from, columns, p.bits, to);
    else if (!separate)
      std::memcpy(to, from, columns * channels * raw.size);
    else
      for (std::size_t x = 0; x < columns; ++x)
        std::memcpy(to + (x * stride + plane) * raw.size, from + x * raw.size, raw.size);
  }
}

/// libtiff reads on behind blocks that are too short: whatever lies there would become pixels.
void check_stored(TiffFile& file, const Page& p, std::size_t number, std::uint32_t block, tmsize_t bytes) {
  if (p.compression == COMPRESSION_NONE && TIFFGetStrileByteCount(file.get(), block) < std::uint64_t(bytes))
    file.fail(fmt::format("page {} stores less than its size asks", number));
}

void read_tiles(TiffFile& file, const Page& p, std::size_t number, Raw& raw) {
  std::uint32_t tile_width = 0, tile_height = 0;
  TIFFGetField(file.get(), TIFFTAG_TILEWIDTH, &tile_width);
  TIFFGetField(file.get(), TIFFTAG_TILELENGTH, &tile_height);
  const tmsize_t bytes = TIFFTileSize(file.get());
  // A tile may be larger than its image, but not by more than tiles ever are.
  constexpr tmsize_t usual_tile = 1 << 28;
  const tmsize_t most = std::max(usual_tile, static_cast<tmsize_t>(raw.data.size()));
  if (bytes <= 0 || tile_width == 0 || tile_height == 0 || bytes > most)
    file.fail(fmt::format("page {} has impossible tiles", number));
  std::vector<std::byte> block(static_cast<std::size_t>(bytes));
  const int planes = p.planar == PLANARCONFIG_SEPARATE ? p.samples : 1;
  for (int plane = 0; plane < planes; ++plane)
    for (std::uint64_t y = 0; y < p.height; y += tile_height)
      for (std::uint64_t x = 0; x < p.width; x += tile_width) {
        const auto column = static_cast<std::uint32_t>(x), row = static_cast<std::uint32_t>(y);
        const auto sample = static_cast<std::uint16_t>(plane);
        check_stored(file, p, number, TIFFComputeTile(file.get(), column, row, 0, sample), bytes);
        if (TIFFReadTile(file.get(), block.data(), column, row, 0, sample) < 0)
          file.fail(fmt::format("page {} cannot be decoded", number));
        place(block.data(), tile_width, x, y, std::min<std::size_t>(tile_width, p.width - x),
              std::min<std::size_t>(tile_height, p.height - y), p, plane, raw);
      }
}

void read_strips(TiffFile& file, const Page& p, std::size_t number, Raw& raw) {
  std::uint32_t rows = 0;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_ROWSPERSTRIP, &rows);
  rows = std::min(rows == 0 ? p.height : rows, p.height);
  const tmsize_t bytes = TIFFStripSize(file.get());
  if (bytes <= 0) file.fail(fmt::format("page {} has impossible strips", number));
  std::vector<std::byte> block(static_cast<std::size_t>(bytes));
  const int planes = p.planar == PLANARCONFIG_SEPARATE ? p.samples : 1;
  for (int plane = 0; plane < planes; ++plane)
    for (std::uint64_t y = 0; y < p.height; y += rows) {
      const auto row = static_cast<std::uint32_t>(y);
      const std::uint32_t strip = TIFFComputeStrip(file.get(), row, static_cast<std::uint16_t>(plane));
      const std::uint32_t here = std::min(rows, p.height - row);
      const tmsize_t wanted = TIFFVStripSize(file.get(), here);
      check_stored(file, p, number, strip, wanted);
      if (TIFFReadEncodedStrip(file.get(), strip, block.data(), wanted) != wanted)
        file.fail(fmt::format("page {} cannot be decoded", number));
      place(block.data(), p.width, 0, y, p.width, here, p, plane, raw);
    }
}

Raw read_raw(TiffFile& file, const Page& p, std::size_t number) {
  Raw raw{{}, p.bits < 8 ? std::size_t(1) : p.bits / std::size_t(8)};
  if (p.ycbcr) TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  raw.data.resize(std::size_t(p.width) * p.height * p.samples * raw.size);
  file.messages() = {};
  if (p.tiled)
    read_tiles(file, p, number, raw);
  else
    read_strips(file, p, number, raw);
  if (!file.messages().error.empty()) file.fail(fmt::format("page {} cannot be decoded", number));
  // libjpeg fills what is damaged with gray, and only warns.
  if (p.compression == COMPRESSION_JPEG && !file.messages().warning.empty())
    throw InputError(file.path(), fmt::format("page {} is damaged ({})", number, file.messages().warning));
  return raw;
}

float from_half(std::uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const float sign = h >> 15 ? -1.0f : 1.0f;
  if (exponent == 31)
    return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                               : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25));
}

template <class T>
void fill_palette(TiffFile& file, const Page& p, const Raw& raw, Image& image) {
  std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (!TIFFGetField(file.get(), TIFFTAG_COLORMAP, &red, &green, &blue)) file.fail("has no colour map");
  const std::size_t pixels = std::size_t(p.width) * p.height;
  const auto index = [&](std::size_t i) -> std::size_t {
    if (raw.size == 1) return static_cast<std::size_t>(raw.data[i * p.samples]);
    std::uint16_t v;
    std::memcpy(&v, &raw.data[i * p.samples * 2], 2);
    return v;
  };
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::size_t k = index(i);
    const std::uint16_t entry[3] = {red[k], green[k], blue[k]};
    for (int c = 0; c < 3; ++c)
      image.samples<T>()[3 * i + c] = static_cast<T>(sizeof(T) == 1 ? entry[c] >> 8 : entry[c]);
  }
}

template <class T>
void to_rgb(const Page& p, const Raw& raw, Image& image) {
  const double white = nominal_range(dtype_of<T>()).white;
  const T* in = reinterpret_cast<const T*>(raw.data.data());
  for (std::size_t i = 0; i < std::size_t(p.width) * p.height; ++i, in += p.samples)
    for (int c = 0; c < 3; ++c) {
      const double v = (white - in[c]) * (white - in[3]) / white;
      image.samples<T>()[3 * i + c] = static_cast<T>(std::is_integral_v<T> ? std::nearbyint(v) : v);
    }
}

template <class T>
void invert(Image& image, double white) {
  const int channels = image.desc().channels, colours = channels - (image.desc().alpha ? 1 : 0);
  T* s = image.samples<T>();
  for (std::int64_t i = 0; i < image.desc().extent.pixels(); ++i, s += channels)
    for (int c = 0; c < colours; ++c) s[c] = static_cast<T>(white - static_cast<double>(s[c]));
}

template <class T>
void divide_alpha(Image& image) {
  const double white = nominal_range(dtype_of<T>()).white;
  const int channels = image.desc().channels;
  T* s = image.samples<T>();
  for (std::int64_t i = 0; i < image.desc().extent.pixels(); ++i, s += channels) {
    const double alpha = static_cast<double>(s[channels - 1]);
    for (int c = 0; c < channels - 1; ++c) {
      const double v = alpha > 0 ? static_cast<double>(s[c]) * white / alpha : 0.0;
      s[c] = static_cast<T>(std::is_integral_v<T> ? std::min(white, std::nearbyint(v)) : v);
    }
  }
}

}  // namespace

Image read_pixels(TiffFile& file, const Page& p, std::size_t number) {
  Raw raw = read_raw(file, p, number);
  ImageDesc desc = p.desc;
  desc.extent = {p.width, p.height, 1};
  Image image(desc);
  if (p.palette) {
    if (desc.dtype == DType::u8)
      fill_palette<std::uint8_t>(file, p, raw, image);
    else
      fill_palette<std::uint16_t>(file, p, raw, image);
  } else if (p.cmyk) {
    visit_dtype(desc.dtype, [&](auto t) { to_rgb<decltype(t)>(p, raw, image); });
  } else if (p.format == SAMPLEFORMAT_IEEEFP && p.bits == 16) {
    for (std::int64_t i = 0; i < desc.samples(); ++i) {
      std::uint16_t h;
      std::memcpy(&h, &raw.data[2 * i], 2);
      image.samples<float>()[i] = from_half(h);
    }
  } else {
    std::memcpy(image.data(), raw.data.data(), raw.data.size());
  }
  if (p.bits < 8 && !p.palette)
    for (std::int64_t i = 0; i < desc.samples(); ++i)
      image.samples<std::uint8_t>()[i] =
          static_cast<std::uint8_t>(image.samples<std::uint8_t>()[i] * (255 / ((1 << p.bits) - 1)));
  if (p.inverted)
    visit_dtype(desc.dtype, [&](auto t) {
      const NominalRange range = nominal_range(desc.dtype);
      invert<decltype(t)>(image, range.black + range.white);
    });
  if (p.associated && desc.alpha) visit_dtype(desc.dtype, [&](auto t) { divide_alpha<decltype(t)>(image); });
  return image;
}

}  // namespace imgpipe::tiff
