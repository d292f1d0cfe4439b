#include "io/formats/tiff/open.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "io/formats/orientation.h"
#include "io/formats/single_image.h"

namespace imgpipe::tiff {
namespace {

int on_error(TIFF*, void* user, const char* module, const char* format, va_list values) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, values);
  auto* messages = static_cast<Messages*>(user);
  if (messages->error.empty()) messages->error = (module ? std::string(module) + ": " : "") + text;
  return 1;
}

int on_warning(TIFF*, void* user, const char*, const char* format, va_list values) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, values);
  auto* messages = static_cast<Messages*>(user);
  messages->warning = text;
  // libtiff reads on behind strips that are too short: whatever lies there would become pixels.
  if (messages->error.empty() && messages->warning.starts_with("Bogus \"StripByteCounts\""))
    messages->error = "its strips are shorter than its size asks";
  return 1;
}

std::string format_words(const Page& p) {
  const char* kinds[] = {"?",       "unsigned integer", "signed integer", "float",
                         "untyped", "complex integer",  "complex float"};
  return fmt::format("{}-bit {}", p.bits, p.format <= 6 ? kinds[p.format] : "?");
}

std::optional<DType> dtype_of_page(const Page& p) {
  const bool integer = p.format == SAMPLEFORMAT_UINT || p.format == SAMPLEFORMAT_VOID;
  if (integer && (p.bits == 1 || p.bits == 2 || p.bits == 4 || p.bits == 8)) return DType::u8;
  if (integer && p.bits == 16) return DType::u16;
  if (integer && p.bits == 32) return DType::u32;
  if (p.format == SAMPLEFORMAT_INT && p.bits == 8) return DType::i8;
  if (p.format == SAMPLEFORMAT_INT && p.bits == 16) return DType::i16;
  if (p.format == SAMPLEFORMAT_INT && p.bits == 32) return DType::i32;
  if (p.format == SAMPLEFORMAT_IEEEFP && (p.bits == 16 || p.bits == 32)) return DType::f32;
  if (p.format == SAMPLEFORMAT_IEEEFP && p.bits == 64) return DType::f64;
  return std::nullopt;
}

/// Bytes of pixels that a byte of the file can become at most: deflate 1032, LZW near 1400. The others have no such
/// bound; what is beyond theirs is no image that anyone stored.
double best_ratio(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_LZW:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_JPEG:
      return 4000;
    default:
      return 1 << 20;
  }
}

void check_size(TiffFile& file, const Page& p, std::size_t number) {
  std::error_code error;
  const double stored = static_cast<double>(std::filesystem::file_size(file.path(), error));
  const double bytes = static_cast<double>(p.width) * p.height * p.samples * p.bits / 8;
  if (bytes > 1.1e12 || bytes > stored * best_ratio(p.compression) + 65536)
    throw InputError(file.path(), fmt::format("page {} claims {}x{} pixels, more than the file can hold", number,
                                              p.width, p.height));
}

void read_colour(TiffFile& file, Page& p, std::size_t number) {
  std::uint16_t count = 0;
  std::uint16_t* extra = nullptr;
  if (TIFFGetField(file.get(), TIFFTAG_EXTRASAMPLES, &count, &extra) && count > 0) {
    p.associated = extra[count - 1] == EXTRASAMPLE_ASSOCALPHA;
    p.alpha = p.associated || extra[count - 1] == EXTRASAMPLE_UNASSALPHA;
  }
  p.palette = p.photometric == PHOTOMETRIC_PALETTE;
  p.inverted = p.photometric == PHOTOMETRIC_MINISWHITE;
  p.ycbcr = p.photometric == PHOTOMETRIC_YCBCR;
  p.cmyk = p.photometric == PHOTOMETRIC_SEPARATED && p.samples >= 4;
  const bool index = (p.format == SAMPLEFORMAT_UINT || p.format == SAMPLEFORMAT_VOID) && p.bits <= 16;
  if (p.palette && !index)
    throw InputError(file.path(), fmt::format("page {}: a palette for {} samples", number, format_words(p)));
  if (p.ycbcr && (p.samples != 3 || p.bits != 8))
    throw InputError(file.path(), fmt::format("page {}: YCbCr of {} samples cannot be read", number, p.samples));
  if (p.ycbcr && p.compression != COMPRESSION_JPEG && p.compression != COMPRESSION_OJPEG)
    throw InputError(file.path(), fmt::format("page {}: YCbCr that is not JPEG-compressed cannot be read", number));
  if (p.photometric == PHOTOMETRIC_CIELAB || p.photometric == PHOTOMETRIC_LOGLUV || p.photometric == PHOTOMETRIC_LOGL)
    throw InputError(file.path(),
                     fmt::format("page {}: this colour space (photometric {}) cannot be read", number, p.photometric));
}

}  // namespace

TiffFile::TiffFile(const std::string& path, const char* mode) : path_(path), messages_(std::make_unique<Messages>()) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, messages_.get());
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, messages_.get());
  file_.reset(TIFFOpenExt(path.c_str(), mode, options));
  TIFFOpenOptionsFree(options);
  if (!file_) fail("cannot be opened");
}

void TiffFile::fail(const std::string& what) const {
  throw InputError(path_, messages_->error.empty() ? what : what + " (" + messages_->error + ")");
}

void TiffFile::close() {
  const bool flushed = TIFFFlush(file_.get()) == 1;
  file_.reset();
  if (!flushed || !messages_->error.empty()) fail("cannot be written");
}

Page read_page_tags(TiffFile& file, std::size_t number) {
  TIFF* t = file.get();
  Page p;
  if (!TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &p.width) || !TIFFGetField(t, TIFFTAG_IMAGELENGTH, &p.height) ||
      p.width == 0 || p.height == 0)
    file.fail(fmt::format("page {} has no size", number));
  TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &p.bits);
  TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &p.samples);
  TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &p.format);
  TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &p.planar);
  TIFFGetFieldDefaulted(t, TIFFTAG_ORIENTATION, &p.orientation);
  TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &p.compression);
  if (!TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &p.photometric))
    p.photometric = p.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  p.tiled = TIFFIsTiled(t);
  if (p.samples == 0) file.fail(fmt::format("page {} has no samples", number));
  const auto dtype = dtype_of_page(p);
  if (!dtype || (p.bits < 8 && p.samples != 1))
    throw InputError(
        file.path(),
        fmt::format("page {}: {} samples cannot be read; 8, 16 and 32-bit integers, and 16, 32 and 64-bit floats can",
                    number, format_words(p)));
  if (!TIFFIsCODECConfigured(p.compression))
    throw InputError(file.path(),
                     fmt::format("page {}: compression {} is not supported by libtiff here", number, p.compression));
  check_size(file, p, number);
  read_colour(file, p, number);
  p.desc.dtype = *dtype;
  p.desc.extent = {p.width, p.height, 1};
  p.desc.channels = p.palette || p.ycbcr ? 3 : p.cmyk ? 3 : p.samples;
  p.desc.alpha = p.alpha && !p.palette && !p.cmyk;
  if (p.palette && p.bits == 16) p.desc.dtype = DType::u16;
  if (p.format == SAMPLEFORMAT_IEEEFP && p.bits == 16) p.notes.push_back("float16 read as float32");
  if (p.bits < 8 && !p.palette) p.notes.push_back(fmt::format("{}-bit gray scaled to uint8", p.bits));
  if (p.palette) p.notes.push_back("palette expanded to RGB");
  if (p.cmyk) p.notes.push_back("CMYK converted to RGB");
  if (p.inverted) p.notes.push_back("white-is-zero inverted to black-is-zero");
  if (p.associated) p.notes.push_back("associated alpha divided out");
  if (p.orientation > 1 && p.orientation <= 8) p.notes.push_back(orientation_note(p.orientation));
  return p;
}

namespace {

std::optional<double> value_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  char* end = nullptr;
  const char* begin = text.c_str() + at + key.size();
  // The C locale is in force: nothing here ever sets another.
  const double value = std::strtod(begin, &end);
  return end == begin ? std::nullopt : std::optional<double>(value);
}

std::string text_after(const std::string& text, const std::string& key, const std::string& ends) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size(), end = text.find_first_of(ends, begin);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

std::string unit_of(const std::string& word) {
  if (word == "micron" || word == "microns" || word == "um" || word == "\xc2\xb5m" || word == "\xce\xbcm" ||
      word == "\\u00B5m" || word == "\xb5m")
    return "um";
  if (word == "mm" || word == "millimeter") return "mm";
  if (word == "nm" || word == "nanometer") return "nm";
  if (word == "m" || word == "meter") return "m";
  if (word == "cm" || word == "inch") return word;
  return "pixel";
}

bool good(double v) { return std::isfinite(v) && v > 0; }

void imagej(const std::string& text, double per_x, double per_y, Description& d) {
  const auto whole = [&](const char* key) {
    const double value = value_after(text, key).value_or(0);
    return value >= 1 && value <= 1e9 ? static_cast<std::size_t>(value) : std::size_t{0};
  };
  const std::size_t slices = whole("\nslices="), frames = whole("\nframes="), channels = whole("\nchannels=");
  d.images = whole("\nimages=");
  d.volume = slices > 1 && frames <= 1 && channels <= 1;
  if (frames > 1 || channels > 1) d.notes.push_back("the ImageJ hyperstack's frames and channels are taken as pages");
  std::string unit = unit_of(text_after(text, "\nunit=", "\r\n"));
  double scale = 1;
  if (unit == "cm") unit = "mm", scale = 10;
  if (unit == "inch") unit = "mm", scale = 25.4;
  if (unit == "pixel") return;
  if (!good(per_x) || !good(per_y)) return;
  const double z = value_after(text, "\nspacing=").value_or(1);
  d.geometry.spacing = {scale / per_x, scale / per_y, good(std::abs(z)) ? std::abs(z) * scale : 1};
  d.geometry.unit = unit;
}

void ome(const std::string& text, Description& d) {
  const auto number = [&](const char* key) { return value_after(text, key).value_or(1); };
  d.volume = number("SizeZ=\"") > 1 && number("SizeT=\"") <= 1 && number("SizeC=\"") <= 1;
  const auto x = value_after(text, "PhysicalSizeX=\""), y = value_after(text, "PhysicalSizeY=\""),
             z = value_after(text, "PhysicalSizeZ=\"");
  if (!x || !y || !good(*x) || !good(*y)) return;
  const std::string word = text_after(text, "PhysicalSizeXUnit=\"", "\"");
  d.geometry.unit = word.empty() ? "um" : unit_of(word);
  if (d.geometry.unit == "cm" || d.geometry.unit == "inch") d.geometry.unit = "pixel";
  if (d.geometry.unit != "pixel") d.geometry.spacing = {*x, *y, z && good(*z) ? *z : 1};
}

}  // namespace

Description read_description(TIFF* t) {
  Description d;
  float per_x = 0, per_y = 0;
  std::uint16_t unit = RESUNIT_INCH;
  TIFFGetField(t, TIFFTAG_XRESOLUTION, &per_x);
  TIFFGetField(t, TIFFTAG_YRESOLUTION, &per_y);
  TIFFGetFieldDefaulted(t, TIFFTAG_RESOLUTIONUNIT, &unit);
  if (good(per_x) && good(per_y) && unit != RESUNIT_NONE) {
    const double mm = unit == RESUNIT_CENTIMETER ? 10 : 25.4;
    d.geometry.spacing = {mm / per_x, mm / per_y, 1};
    d.geometry.unit = "mm";
  }
  std::uint32_t profile_bytes = 0;
  void* profile = nullptr;
  if (TIFFGetField(t, TIFFTAG_ICCPROFILE, &profile_bytes, &profile)) d.warnings.push_back(profile_dropped);
  d.notes = d.warnings;
  const char* text = nullptr;
  if (!TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &text) || !text) return d;
  const std::string words(text);
  if (words.compare(0, 7, "ImageJ=") == 0)
    imagej(words, per_x, per_y, d);
  else if (words.find("<OME") != std::string::npos)
    ome(words, d);
  else if (!words.empty())
    d.notes.push_back("its description is dropped");
  return d;
}

}  // namespace imgpipe::tiff
