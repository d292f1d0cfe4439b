#include "io/formats/jpeg/jpeg.h"

#include <cstdio>
// jpeglib.h needs the declarations of cstdio before it.
#include <jpeglib.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <memory>

#include "io/formats/orientation.h"
#include "io/formats/single_image.h"

namespace imgpipe::jpeg {
namespace {

constexpr double mm_per_inch = 25.4, mm_per_cm = 10;

/// Bytes of pixels a byte of the file: a block of 64 samples takes two bits or more, but arithmetic codes go far below.
constexpr std::int64_t huffman_best_ratio = 2048, arithmetic_best_ratio = 1 << 17;

/// The library's errors jump back; its first warning is kept.
struct Errors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX] = "";
};

void on_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  errors->manager.format_message(info, errors->text);
  std::longjmp(errors->back, 1);
}

void on_message(j_common_ptr info, int level) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  if (level >= 0) return;
  if (errors->manager.num_warnings++ == 0) errors->manager.format_message(info, errors->text);
}

jpeg_error_mgr* set_up(Errors& errors) {
  jpeg_error_mgr* manager = jpeg_std_error(&errors.manager);
  manager->error_exit = on_error;
  manager->emit_message = on_message;
  return manager;
}

/// One decoding of a file's bytes. The steps are left by a jump when they fail: they have only plain locals.
struct Decoder {
  explicit Decoder(std::span<const std::byte> bytes) : bytes(bytes) { info.err = set_up(errors); }
  ~Decoder() { jpeg_destroy_decompress(&info); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  bool cmyk() const { return info.out_color_space == JCS_CMYK; }
  int warnings() const { return static_cast<int>(errors.manager.num_warnings); }

  bool read_header() {
    if (setjmp(errors.back)) return false;
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<unsigned long>(bytes.size()));
    jpeg_save_markers(&info, JPEG_APP0 + 1, 0xffff);
    jpeg_save_markers(&info, JPEG_APP0 + 2, 16);  // enough to know an ICC profile by its name
    jpeg_read_header(&info, TRUE);
    const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    info.out_color_space = inks ? JCS_CMYK : info.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    return true;
  }

  /// Rows of gray, RGB or CMYK, one behind the other.
  bool read_rows(std::byte* rows) {
    if (setjmp(errors.back)) return false;
    jpeg_start_decompress(&info);
    const std::size_t stride = std::size_t(info.output_width) * static_cast<std::size_t>(info.output_components);
    while (info.output_scanline < info.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(rows + stride * info.output_scanline);
      jpeg_read_scanlines(&info, &row, 1);
    }
    complete = all_scans_came();
    jpeg_finish_decompress(&info);
    return true;
  }

  /// A progressive file that was cut between two scans decodes without a warning, but coarsely.
  bool all_scans_came() const {
    if (!info.progressive_mode || !info.coef_bits) return true;
    for (int c = 0; c < info.num_components; ++c)
      if (!std::ranges::all_of(info.coef_bits[c], [](int missing) { return missing == 0; })) return false;
    return true;
  }

  std::span<const std::byte> bytes;
  Errors errors;
  jpeg_decompress_struct info{};
  bool complete = true;
};

bool begins_with(const jpeg_marker_struct& marker, int app, const char* name, std::size_t size) {
  return marker.marker == JPEG_APP0 + app && marker.data_length >= size && std::memcmp(marker.data, name, size) == 0;
}

struct Header {
  ImageDesc desc;
  int orientation = 1;
  bool cmyk = false, profile = false;
};

void set_spacing(Geometry& geometry, const jpeg_decompress_struct& info) {
  const double mm = info.density_unit == 1 ? mm_per_inch : info.density_unit == 2 ? mm_per_cm : 0;
  if (!info.saw_JFIF_marker || mm == 0 || info.X_density == 0 || info.Y_density == 0) return;
  geometry.spacing = {mm / info.X_density, mm / info.Y_density, 1};
  geometry.unit = "mm";
}

Header header_of(const std::string& path, const Decoder& decoder, std::int64_t file_size) {
  const jpeg_decompress_struct& info = decoder.info;
  Header header;
  header.cmyk = decoder.cmyk();
  header.desc.extent = {static_cast<std::int64_t>(info.image_width), static_cast<std::int64_t>(info.image_height), 1};
  header.desc.channels = info.out_color_space == JCS_GRAYSCALE ? 1 : 3;
  set_spacing(header.desc.geometry, info);
  for (jpeg_saved_marker_ptr m = info.marker_list; m; m = m->next) {
    if (header.orientation == 1 && begins_with(*m, 1, "Exif\0\0", 6))
      header.orientation = exif_orientation({reinterpret_cast<const std::byte*>(m->data), m->data_length});
    header.profile |= begins_with(*m, 2, "ICC_PROFILE", 12);
  }
  check_size(path, header.desc);
  check_ratio(path, file_size, header.desc.bytes(), info.arith_code ? arithmetic_best_ratio : huffman_best_ratio);
  return header;
}

/// Lossless (SOF3) and 12-bit files are told apart from broken ones.
std::string refusal(const Decoder& decoder) {
  const std::string text = decoder.errors.text;
  if (text.find("SOF type 0xc3") != std::string::npos) return "lossless JPEG (SOF3) is not supported";
  if (text.find("precision") != std::string::npos) return "this JPEG is not 8-bit: " + text;
  return "corrupt JPEG: " + text;
}

std::vector<std::string> notes_of(const Header& header) {
  std::vector<std::string> notes;
  if (header.orientation > 1) notes.push_back(orientation_note(header.orientation));
  if (header.cmyk) notes.push_back("CMYK converted to RGB");
  if (header.profile) notes.push_back(profile_dropped);
  return notes;
}

FileInfo read_info(const std::string& path) {
  const InputFile file(path);
  // Headers lie in front, EXIF and profiles included.
  const std::vector<std::byte> bytes = file.bytes(0, std::min<std::int64_t>(file.size(), 4 << 20));
  Decoder decoder(bytes);
  if (!decoder.read_header()) throw InputError(path, refusal(decoder));
  Header header = header_of(path, decoder, file.size());
  orient(header.desc, header.orientation);
  return {{header.desc}, false, "jpeg", notes_of(header)};
}

/// Files with Adobe's marker store CMYK inverted, and libjpeg leaves it so; files without do not.
void cmyk_to_rgb(const std::vector<std::byte>& rows, bool inverted, Image& image) {
  auto* out = image.samples<std::uint8_t>();
  for (std::int64_t i = 0; i < image.desc().extent.pixels(); ++i)
    for (int c = 0; c < 3; ++c) {
      int ink = static_cast<int>(rows[4 * i + c]), black = static_cast<int>(rows[4 * i + 3]);
      if (!inverted) ink = 255 - ink, black = 255 - black;
      out[3 * i + c] = static_cast<std::uint8_t>((ink * black + 127) / 255);
    }
}

bool read_pixels(Decoder& decoder, const Header& header, Image& image) {
  if (!header.cmyk) return decoder.read_rows(image.data());
  std::vector<std::byte> rows(static_cast<std::size_t>(4 * header.desc.extent.pixels()));
  if (!decoder.read_rows(rows.data())) return false;
  cmyk_to_rgb(rows, decoder.info.saw_Adobe_marker != 0, image);
  return true;
}

bool has_end_marker(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[bytes.size() - 2] == std::byte{0xff} && bytes.back() == std::byte{0xd9};
}

/// Without its last two bytes a file may still be whole: then the end marker alone heals it.
void read_with_end_marker(const std::string& path, std::vector<std::byte>& bytes, const Decoder& first, Image& image) {
  bytes.push_back(std::byte{0xff});
  bytes.push_back(std::byte{0xd9});
  Decoder decoder(bytes);
  const bool read = decoder.read_header() && read_pixels(decoder, header_of(path, decoder, std::ssize(bytes)), image);
  if (!read || decoder.warnings() > 0 || !decoder.complete)
    throw InputError(path, "truncated JPEG: " + std::string(first.errors.text));
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  ReadResult result;
  if (!wants_the_page(path, first, count)) return result;
  const InputFile file(path);
  std::vector<std::byte> bytes = file.bytes(0, file.size());
  Decoder decoder(bytes);
  if (!decoder.read_header()) throw InputError(path, refusal(decoder));
  const Header header = header_of(path, decoder, file.size());
  Image image(header.desc);
  if (!read_pixels(decoder, header, image)) throw InputError(path, refusal(decoder));
  if (decoder.warnings() > 0) {
    if (has_end_marker(bytes)) throw InputError(path, refusal(decoder));
    read_with_end_marker(path, bytes, decoder, image);
    result.warnings.push_back("the end-of-image marker is missing; all pixels were decoded");
  }
  result.notes = notes_of(header);
  if (header.profile) result.warnings.push_back(profile_dropped);
  result.pages.push_back(apply_orientation(std::move(image), header.orientation));
  return result;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t pages) {
  if (const auto why = not_one_2d_image("JPEG", desc, pages)) return why;
  if (desc.dtype != DType::u8 || (desc.channels != 1 && desc.channels != 3) || desc.alpha)
    return cannot_hold_samples("JPEG", "uint8 gray or RGB", desc, "write .png or .tif, or add a step `rescale: uint8`");
  if (desc.extent.width > 65535 || desc.extent.height > 65535)
    return "JPEG holds at most 65535 pixels a side: write .png or .tif";
  return std::nullopt;
}

struct Density {
  int unit = 0, x = 1, y = 1;
};

/// Whole dots an inch or a centimetre, whichever comes closer.
Density density_of(const Geometry& g) {
  const double mm = g.unit == "m" ? 1e3 : g.unit == "mm" ? 1 : g.unit == "um" ? 1e-3 : g.unit == "nm" ? 1e-6 : 0;
  Density best;
  if (mm == 0) return best;
  double least = 1;
  for (int unit : {1, 2}) {
    const double dots = unit == 1 ? mm_per_inch : mm_per_cm;
    const double x = dots / (g.spacing[0] * mm), y = dots / (g.spacing[1] * mm);
    const bool fits = std::round(x) >= 1 && std::round(y) >= 1 && x <= 65535 && y <= 65535;
    const double error = std::abs(std::round(x) / x - 1) + std::abs(std::round(y) / y - 1);
    if (!fits || error >= least) continue;
    best = {unit, static_cast<int>(std::round(x)), static_cast<int>(std::round(y))};
    least = error;
  }
  return best;
}

bool encode(const Image& image, int quality, const Density& density, Errors& errors, jpeg_compress_struct& info,
            unsigned char** bytes, unsigned long* size) {
  if (setjmp(errors.back)) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, bytes, size);
  info.image_width = static_cast<JDIMENSION>(image.desc().extent.width);
  info.image_height = static_cast<JDIMENSION>(image.desc().extent.height);
  info.input_components = image.desc().channels;
  info.in_color_space = image.desc().channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.density_unit = static_cast<UINT8>(density.unit);
  info.X_density = static_cast<UINT16>(density.x);
  info.Y_density = static_cast<UINT16>(density.y);
  jpeg_start_compress(&info, TRUE);
  const std::size_t stride = std::size_t(info.image_width) * info.input_components;
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(image.data() + stride * info.next_scanline));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions& options) {
  const Image& image = the_image(path, pages, spec());
  Errors errors;
  jpeg_compress_struct info{};
  info.err = set_up(errors);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const bool encoded = encode(image, options.quality, density_of(image.desc().geometry), errors, info, &bytes, &size);
  const std::unique_ptr<unsigned char, void (*)(void*)> owner(bytes, std::free);
  if (!encoded) throw InputError(path, std::string("cannot be encoded: ") + errors.text);
  OutputFile file(path);
  file.write(bytes, size);
  file.close();
}

}  // namespace

Format spec() {
  Format format;
  format.name = "jpeg";
  format.summary = "JPEG, 8-bit gray and RGB; CMYK is read as RGB";
  format.suffixes = {".jpg", ".jpeg"};
  format.priority = 10;
  format.sniff = [](std::span<const std::byte> head) {
    return head.size() >= 3 && std::memcmp(head.data(), "\xff\xd8\xff", 3) == 0;
  };
  format.read_info = read_info;
  format.read = read;
  format.cannot_hold = cannot_hold;
  format.write = write;
  return format;
}

}  // namespace imgpipe::jpeg
