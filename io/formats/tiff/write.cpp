// Images and volumes -> TIFF: one page a slice, deflate with a predictor, BigTIFF when the file could pass 4 GiB.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/formats/tiff/open.h"
#include "io/formats/tiff/tiff.h"

namespace imgpipe::tiff {

bool needs_big(std::int64_t sample_bytes, std::size_t pages, std::int64_t strips) {
  // A page's tags take less than 1 KiB, a strip two table entries; deflate can add a little to noise.
  const std::int64_t tables = static_cast<std::int64_t>(pages) * 1024 + strips * 16 + 65536;
  return sample_bytes + sample_bytes / 1000 + tables > 0xffffffffll;
}

namespace {

constexpr std::int64_t strip_bytes = 256 * 1024;

std::uint32_t rows_per_strip(const ImageDesc& d) {
  const std::int64_t row = d.extent.width * d.channels * static_cast<std::int64_t>(size_of(d.dtype));
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(strip_bytes / std::max<std::int64_t>(1, row), 1, d.extent.height));
}

std::string description_of(const ImageDesc& d) {
  const Geometry& g = d.geometry;
  std::string text = fmt::format("ImageJ=1.54f\nimages={0}\nslices={0}\n", d.extent.depth);
  if (g.unit != "pixel") text += fmt::format("unit={}\nspacing={}\n", g.unit, g.spacing[2]);
  return text + "loop=false\n";
}

void set_geometry(TIFF* t, const ImageDesc& d) {
  const Geometry& g = d.geometry;
  if (g.unit == "pixel") return;
  const bool described = d.volume;
  const double in_cm = g.unit == "mm" ? 0.1 : g.unit == "um" ? 1e-4 : g.unit == "nm" ? 1e-7 : 100;
  TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, described ? RESUNIT_NONE : RESUNIT_CENTIMETER);
  TIFFSetField(t, TIFFTAG_XRESOLUTION, described ? 1 / g.spacing[0] : 1 / (g.spacing[0] * in_cm));
  TIFFSetField(t, TIFFTAG_YRESOLUTION, described ? 1 / g.spacing[1] : 1 / (g.spacing[1] * in_cm));
}

void set_tags(TIFF* t, const ImageDesc& d, int level, bool first) {
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(d.extent.width));
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(d.extent.height));
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_of(d.dtype)));
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, d.channels);
  const bool is_signed = d.dtype == DType::i8 || d.dtype == DType::i16 || d.dtype == DType::i32;
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT,
               is_float(d.dtype) ? SAMPLEFORMAT_IEEEFP
               : is_signed       ? SAMPLEFORMAT_INT
                                 : SAMPLEFORMAT_UINT);
  const int colours = d.channels - (d.alpha ? 1 : 0);
  const bool rgb = colours == 3;
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, rgb ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  const int extra = d.channels - (rgb ? 3 : 1);
  if (extra > 0) {
    std::vector<std::uint16_t> kinds(extra, EXTRASAMPLE_UNSPECIFIED);
    if (d.alpha) kinds.back() = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(t, TIFFTAG_EXTRASAMPLES, extra, kinds.data());
  }
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(t, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, rows_per_strip(d));
  TIFFSetField(t, TIFFTAG_COMPRESSION, level > 0 ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
  if (level > 0) {
    TIFFSetField(t, TIFFTAG_ZIPQUALITY, level);
    if (d.dtype != DType::f64)
      TIFFSetField(t, TIFFTAG_PREDICTOR, is_float(d.dtype) ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
  }
  set_geometry(t, d);
  if (first && d.volume) TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, description_of(d).c_str());
}

void write_slice(TiffFile& file, const ImageDesc& d, const std::byte* samples) {
  const std::uint32_t rows = rows_per_strip(d);
  const std::int64_t row = d.extent.width * d.channels * static_cast<std::int64_t>(size_of(d.dtype));
  std::vector<std::byte> strip(static_cast<std::size_t>(row) * rows);
  for (std::int64_t y = 0, index = 0; y < d.extent.height; y += rows, ++index) {
    const auto bytes = static_cast<std::size_t>(row * std::min<std::int64_t>(rows, d.extent.height - y));
    std::memcpy(strip.data(), samples + y * row, bytes);  // the predictor works in place
    if (TIFFWriteEncodedStrip(file.get(), static_cast<std::uint32_t>(index), strip.data(),
                              static_cast<tmsize_t>(bytes)) < 0)
      file.fail("cannot be written");
  }
}

}  // namespace

void write(const std::string& path, std::span<const Image> pages, const WriteOptions& options) {
  std::int64_t bytes = 0, strips = 0;
  std::size_t directories = 0;
  for (const Image& page : pages) {
    const ImageDesc& d = page.desc();
    bytes += d.bytes();
    directories += static_cast<std::size_t>(d.extent.depth);
    strips += d.extent.depth * (d.extent.height / rows_per_strip(d) + 1);
  }
  TiffFile file(path, needs_big(bytes, directories, strips) ? "w8" : "w");
  bool first = true;
  for (const Image& page : pages) {
    const ImageDesc& d = page.desc();
    const std::int64_t slice = d.bytes() / d.extent.depth;
    for (std::int64_t z = 0; z < d.extent.depth; ++z) {
      set_tags(file.get(), d, options.compression_level, first);
      write_slice(file, d, page.data() + z * slice);
      if (!TIFFWriteDirectory(file.get())) file.fail("cannot be written");
      first = false;
    }
  }
  file.close();
}

}  // namespace imgpipe::tiff
