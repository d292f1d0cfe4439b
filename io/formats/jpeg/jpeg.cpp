#include "io/formats/jpeg/jpeg.h"

#include <jpeglib.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <limits>

#include "io/formats/orientation.h"
#include "io/formats/single_image.h"

namespace imgpipe::jpeg {
namespace {

/// The library's errors jump back; its first warning is kept.
struct Errors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX] = "";
  bool only_end_missing = true;
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

struct Header {
  ImageDesc desc;
  int orientation = 1;
  bool cmyk = false, profile = false;
};

/// Blocks of 64 samples take a bit or more but with arithmetic coding, which spares most of that for plain colour.
constexpr std::int64_t best_ratio = 100'000;

/// JFIF's density as spacing.
Geometry geometry_of(const jpeg_decompress_struct& info) {
  const double mm = info.density_unit == 1 ? 25.4 : info.density_unit == 2 ? 10 : 0;
  if (!info.saw_JFIF_marker || mm == 0 || info.X_density == 0 || info.Y_density == 0) return {};
  return {{mm / info.X_density, mm / info.Y_density, 1}, {0, 0, 0}, "mm"};
}

bool has_profile(const jpeg_decompress_struct& info) {
  for (jpeg_saved_marker_ptr m = info.marker_list; m; m = m->next)
    if (m->marker == JPEG_APP0 + 2 && m->data_length > 12 && std::memcmp(m->data, "ICC_PROFILE", 12) == 0) return true;
  return false;
}

/// EXIF orientation of a saved APP1 marker.
int orientation_of(const jpeg_decompress_struct& info) {
  for (jpeg_saved_marker_ptr m = info.marker_list; m; m = m->next)
    if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && std::memcmp(m->data, "Exif\0\0", 6) == 0)
      return exif_orientation({reinterpret_cast<const std::byte*>(m->data), m->data_length});
  return 1;
}

/// Decodes into `rows` (RGB, gray or CMYK), or only the header when it is nullptr. No C++ object lives across a jump.
bool decode(const std::byte* data, std::size_t size, Errors& errors, jpeg_decompress_struct& info, Header& header,
            std::vector<std::byte>* rows) {
  if (setjmp(errors.back)) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(data), static_cast<unsigned long>(size));
  jpeg_save_markers(&info, JPEG_APP0 + 1, 0xffff);
  jpeg_save_markers(&info, JPEG_APP0 + 2, 0xffff);
  jpeg_read_header(&info, TRUE);
  header.orientation = orientation_of(info);
  header.profile = has_profile(info);
  header.desc.geometry = geometry_of(info);
  header.cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = header.cmyk ? JCS_CMYK : info.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  header.desc.extent = {static_cast<std::int64_t>(info.image_width), static_cast<std::int64_t>(info.image_height), 1};
  header.desc.channels = info.out_color_space == JCS_GRAYSCALE ? 1 : 3;
  if (rows) {
    jpeg_start_decompress(&info);
    const std::size_t stride = std::size_t(info.output_width) * info.output_components;
    rows->resize(stride * info.output_height);
    while (info.output_scanline < info.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(rows->data() + stride * info.output_scanline);
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
  }
  jpeg_destroy_decompress(&info);
  return true;
}

/// Lossless (SOF3) and 12-bit files are told apart from broken ones.
std::string refusal(const Errors& errors) {
  const std::string text = errors.text;
  if (text.find("SOF type 0xc3") != std::string::npos) return "lossless JPEG (SOF3) is not supported";
  if (text.find("precision") != std::string::npos) return "this JPEG is not 8-bit: " + text;
  return "corrupt JPEG: " + text;
}

struct Decoded {
  Header header;
  std::vector<std::byte> rows;
  std::string warning;
};

Decoded decode_file(const std::string& path, bool pixels) {
  const InputFile file(path);
  // A whole decode needs all bytes; headers lie in front, EXIF and profiles included.
  const std::int64_t wanted = pixels ? file.size() : std::min<std::int64_t>(file.size(), 4 << 20);
  std::vector<std::byte> data = file.bytes(0, wanted);
  const bool ends =
      data.size() >= 2 && data[data.size() - 2] == std::byte{0xff} && data[data.size() - 1] == std::byte{0xd9};
  Decoded decoded;
  Errors errors;
  jpeg_decompress_struct info{};
  info.err = set_up(errors);
  if (!decode(data.data(), data.size(), errors, info, decoded.header, nullptr)) throw InputError(path, refusal(errors));
  check_size(path, decoded.header.desc);
  check_ratio(path, file.size(), decoded.header.desc.bytes(), best_ratio);
  if (!pixels) return decoded;
  errors = {};
  info = {};
  info.err = set_up(errors);
  if (!decode(data.data(), data.size(), errors, info, decoded.header, &decoded.rows))
    throw InputError(path, refusal(errors));
  if (errors.manager.num_warnings == 0) return decoded;
  if (ends) throw InputError(path, "corrupt JPEG: " + std::string(errors.text));
  // Without its last two bytes a file may still be whole: then the end marker alone heals it.
  data.push_back(std::byte{0xff});
  data.push_back(std::byte{0xd9});
  Errors again;
  jpeg_decompress_struct second{};
  second.err = set_up(again);
  if (!decode(data.data(), data.size(), again, second, decoded.header, &decoded.rows) || again.manager.num_warnings > 0)
    throw InputError(path, "truncated JPEG: " + std::string(errors.text));
  decoded.warning = "the end-of-image marker is missing; all pixels were decoded";
  return decoded;
}

std::vector<std::string> notes_of(const Header& header) {
  std::vector<std::string> notes;
  if (header.orientation > 1) notes.push_back(orientation_note(header.orientation));
  if (header.cmyk) notes.push_back("CMYK converted to RGB");
  if (header.profile) notes.push_back("ICC profile not kept");
  return notes;
}

FileInfo read_info(const std::string& path) {
  Decoded decoded = decode_file(path, false);
  orient(decoded.header.desc, decoded.header.orientation);
  return {{decoded.header.desc}, false, "jpeg", notes_of(decoded.header)};
}

/// CMYK as stored in files with Adobe's marker is inverted; libjpeg leaves it so. Files without are not.
void cmyk_to_rgb(const std::vector<std::byte>& rows, bool inverted, Image& image) {
  auto* out = image.samples<std::uint8_t>();
  for (std::int64_t i = 0; i < image.desc().extent.pixels(); ++i)
    for (int c = 0; c < 3; ++c) {
      int ink = static_cast<int>(rows[4 * i + c]), black = static_cast<int>(rows[4 * i + 3]);
      if (!inverted) ink = 255 - ink, black = 255 - black;
      out[3 * i + c] = static_cast<std::uint8_t>((ink * black + 127) / 255);
    }
}

bool has_adobe_marker(const std::string& path) {
  const InputFile file(path);
  const std::vector<std::byte> data = file.bytes(0, std::min<std::int64_t>(file.size(), 1 << 20));
  const char adobe[] = "Adobe";
  for (std::size_t i = 0; i + 9 < data.size(); ++i)
    if (data[i] == std::byte{0xff} && data[i + 1] == std::byte{0xee} && std::memcmp(&data[i + 4], adobe, 5) == 0)
      return true;
  return false;
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  ReadResult result;
  if (!wants_the_page(path, first, count)) return result;
  Decoded decoded = decode_file(path, true);
  result.notes = notes_of(decoded.header);
  if (!decoded.warning.empty()) result.warnings.push_back(decoded.warning);
  Image image(decoded.header.desc);
  if (decoded.header.cmyk)
    cmyk_to_rgb(decoded.rows, has_adobe_marker(path), image);
  else
    std::memcpy(image.data(), decoded.rows.data(), decoded.rows.size());
  result.pages.push_back(apply_orientation(std::move(image), decoded.header.orientation));
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

/// JFIF holds whole numbers an inch or a centimetre: the better of the two.
void set_density(const Geometry& geometry, jpeg_compress_struct& info) {
  const double mm = geometry.unit == "m" ? 1000 : geometry.unit == "mm" ? 1 : geometry.unit == "um" ? 1e-3 : 0;
  if (mm == 0) return;
  const auto off = [](double v) { return std::abs(v - std::round(v)) / v; };
  double x[2], y[2];
  for (int u = 0; u < 2; ++u) {
    x[u] = (u == 0 ? 25.4 : 10) / (geometry.spacing[0] * mm);
    y[u] = (u == 0 ? 25.4 : 10) / (geometry.spacing[1] * mm);
  }
  const int unit = off(x[0]) + off(y[0]) <= off(x[1]) + off(y[1]) ? 0 : 1;
  const double across = std::round(x[unit]), down = std::round(y[unit]);
  if (!(across >= 1 && down >= 1 && across <= 65535 && down <= 65535)) return;
  info.density_unit = static_cast<UINT8>(unit + 1);
  info.X_density = static_cast<UINT16>(across);
  info.Y_density = static_cast<UINT16>(down);
}

bool encode(const Image& image, int quality, Errors& errors, jpeg_compress_struct& info, unsigned char** bytes,
            unsigned long* size) {
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
  set_density(image.desc().geometry, info);
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
  const bool encoded = encode(image, options.quality, errors, info, &bytes, &size);
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
