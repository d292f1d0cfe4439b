#include "io/formats/png/png.h"

#include <png.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "io/formats/orientation.h"
#include "io/formats/single_image.h"

namespace imgpipe::png {
namespace {

constexpr unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::int64_t deflate_best_ratio = 1032;
constexpr png_uint_32 largest_side = 0x7fffffff;

/// What libpng does not tell before it has decoded the pixels.
struct Chunks {
  std::int64_t compressed_bytes = 0;
  int orientation = 1;
  bool animated = false;
  bool profile = false;
};

std::uint32_t big_endian_32(const std::byte* p) {
  return std::uint32_t(p[0]) << 24 | std::uint32_t(p[1]) << 16 | std::uint32_t(p[2]) << 8 | std::uint32_t(p[3]);
}

/// Visits the chunk headers up to IEND: eXIf may stand behind the pixels.
Chunks walk_chunks(const InputFile& file) {
  constexpr std::int64_t largest_exif = 1 << 20;
  Chunks chunks;
  for (std::int64_t at = sizeof signature;;) {
    std::byte head[8];
    file.read(at, head);
    const std::int64_t length = big_endian_32(head);
    const std::string_view type(reinterpret_cast<const char*>(head) + 4, 4);
    if (length > largest_side || length > file.size() - at - 12)
      throw InputError(file.path(), "truncated or damaged: a chunk is longer than the file");
    if (type == "IDAT") chunks.compressed_bytes += length;
    if (type == "acTL") chunks.animated = true;
    if (type == "iCCP") chunks.profile = true;
    if (type == "eXIf" && length <= largest_exif) chunks.orientation = exif_orientation(file.bytes(at + 8, length));
    if (type == "IEND") return chunks;
    at += length + 12;
  }
}

/// A libpng object and its errors. libpng leaves by longjmp: a `Step` has only locals without destructors.
template <class Object>
class Session {
 public:
  using Step = void (*)(Object&);

  bool run(Step step) {
    if (setjmp(png_jmpbuf(png))) return false;
    step(static_cast<Object&>(*this));
    return true;
  }

  png_structp png = nullptr;
  png_infop info = nullptr;
  char error[200] = "libpng cannot be started";
  std::vector<std::string> warnings;

 protected:
  [[noreturn]] static void fail(png_structp png, png_const_charp text) {
    auto& session = *static_cast<Session*>(png_get_error_ptr(png));
    std::snprintf(session.error, sizeof session.error, "%s", text);
    png_longjmp(png, 1);
  }

  /// Data behind the last row harms nothing. All else that libpng warns of, in the chunks it is given, changes pixels.
  static void warn(png_structp png, png_const_charp text) {
    auto& session = *static_cast<Session*>(png_get_error_ptr(png));
    const std::string_view message(text);
    const bool harmless = message.ends_with("Too much image data") || message.ends_with("Extra compressed data") ||
                          message.starts_with("pHYs");
    if (!harmless) png_error(png, text);
    session.warnings.emplace_back(message);
  }
};

class Reader : public Session<Reader> {
 public:
  explicit Reader(const InputFile& file) : file(file) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, static_cast<Session<Reader>*>(this), fail, warn);
    info = png ? png_create_info_struct(png) : nullptr;
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }

  static void read_bytes(png_structp png, png_bytep to, std::size_t size) {
    auto& reader = *static_cast<Reader*>(png_get_io_ptr(png));
    const auto got = reader.file.try_read(reader.offset, {reinterpret_cast<std::byte*>(to), size});
    if (got != size) png_error(png, "the file ends too early or cannot be read");
    reader.offset += static_cast<std::int64_t>(size);
  }

  const InputFile& file;
  std::int64_t offset = 0;
  std::byte* pixels = nullptr;
  std::int64_t row_bytes = 0;
};

/// Reads up to the pixels and asks for them as they are stored, but with whole samples and colours.
void read_header(Reader& reader) {
  png_structp png = reader.png;
  constexpr png_byte phys[] = "pHYs";
  png_set_read_fn(png, &reader, Reader::read_bytes);
  png_set_user_limits(png, largest_side, largest_side);
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_AS_DEFAULT, phys, 1);
  png_read_info(png, reader.info);
}

/// Palettes stay indices of a byte each: libpng would give indices outside the palette a colour.
void ask_for_whole_samples(Reader& reader) {
  if (png_get_color_type(reader.png, reader.info) == PNG_COLOR_TYPE_PALETTE)
    png_set_packing(reader.png);
  else
    png_set_expand(reader.png);
  if constexpr (std::endian::native == std::endian::little) png_set_swap(reader.png);
  png_read_update_info(reader.png, reader.info);
}

void read_pixels(Reader& reader) {
  const int passes = png_set_interlace_handling(reader.png);
  ask_for_whole_samples(reader);
  if (static_cast<std::int64_t>(png_get_rowbytes(reader.png, reader.info)) != reader.row_bytes)
    png_error(reader.png, "rows of an unexpected size");
  const png_uint_32 height = png_get_image_height(reader.png, reader.info);
  for (int pass = 0; pass < passes; ++pass)
    for (png_uint_32 y = 0; y < height; ++y)
      png_read_row(reader.png, reinterpret_cast<png_bytep>(reader.pixels + y * reader.row_bytes), nullptr);
  png_read_end(reader.png, nullptr);
}

void run_or_throw(Reader& reader, Reader::Step step) {
  if (!reader.png || !reader.info || !reader.run(step))
    throw InputError(reader.file.path(), std::string("damaged PNG: ") + reader.error);
}

/// The image as it is stored, and what reading does to it.
struct Header {
  ImageDesc desc;
  int orientation = 1;
  bool palette = false;
  std::vector<std::string> notes;
};

void set_spacing(Geometry& geometry, Reader& reader) {
  png_uint_32 x = 0, y = 0;
  int unit = PNG_RESOLUTION_UNKNOWN;
  if (!png_get_pHYs(reader.png, reader.info, &x, &y, &unit) || unit != PNG_RESOLUTION_METER || x == 0 || y == 0) return;
  geometry.spacing = {1000.0 / x, 1000.0 / y, 1};
  geometry.unit = "mm";
}

Header header_of(Reader& reader, const Chunks& chunks) {
  const int bits = png_get_bit_depth(reader.png, reader.info);
  const int colour = png_get_color_type(reader.png, reader.info);
  const bool palette = colour == PNG_COLOR_TYPE_PALETTE;
  const bool transparency = png_get_valid(reader.png, reader.info, PNG_INFO_tRNS) != 0;
  Header header{.palette = palette};
  ImageDesc& desc = header.desc;
  desc.dtype = bits == 16 ? DType::u16 : DType::u8;
  desc.extent = {png_get_image_width(reader.png, reader.info), png_get_image_height(reader.png, reader.info), 1};
  desc.alpha = (colour & PNG_COLOR_MASK_ALPHA) || transparency;
  desc.channels = (colour & PNG_COLOR_MASK_COLOR ? 3 : 1) + desc.alpha;
  set_spacing(desc.geometry, reader);
  header.orientation = chunks.orientation;
  if (palette)
    header.notes.push_back(transparency ? "palette expanded to RGBA" : "palette expanded to RGB");
  else if (transparency)
    header.notes.push_back("colour key expanded to alpha");
  if (!palette && bits < 8) header.notes.push_back(std::to_string(bits) + "-bit gray scaled to uint8");
  if (header.orientation != 1) header.notes.push_back(orientation_note(header.orientation));
  if (chunks.animated) header.notes.push_back("animated PNG: only its still image is read");
  if (chunks.profile) header.notes.push_back(profile_dropped);
  check_size(reader.file.path(), desc);
  const std::int64_t pixel_bits = png_get_channels(reader.png, reader.info) * bits;
  check_ratio(reader.file.path(), chunks.compressed_bytes, desc.extent.pixels() / 8 * pixel_bits, deflate_best_ratio);
  return header;
}

FileInfo read_info(const std::string& path) {
  const InputFile file(path);
  const Chunks chunks = walk_chunks(file);
  Reader reader(file);
  run_or_throw(reader, read_header);
  const Header header = header_of(reader, chunks);
  FileInfo info{{header.desc}, false, "deflate", header.notes};
  orient(info.pages[0], header.orientation);
  return info;
}

void expand_palette(Reader& reader, const std::vector<std::byte>& indices, Image& image) {
  png_colorp colours = nullptr;
  png_bytep alphas = nullptr;
  int count = 0, alpha_count = 0;
  png_get_PLTE(reader.png, reader.info, &colours, &count);
  png_get_tRNS(reader.png, reader.info, &alphas, &alpha_count, nullptr);
  const bool alpha = image.desc().alpha;
  auto* out = image.samples<std::uint8_t>();
  for (const std::byte index : indices) {
    const int i = static_cast<int>(index);
    if (i >= count) throw InputError(reader.file.path(), "damaged PNG: a pixel's colour is not in the palette");
    *out++ = colours[i].red;
    *out++ = colours[i].green;
    *out++ = colours[i].blue;
    if (alpha) *out++ = i < alpha_count ? alphas[i] : 255;
  }
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  if (!wants_the_page(path, first, count)) return {};
  const InputFile file(path);
  const Chunks chunks = walk_chunks(file);
  Reader reader(file);
  run_or_throw(reader, read_header);
  const Header header = header_of(reader, chunks);
  Image image(header.desc);
  std::vector<std::byte> indices(static_cast<std::size_t>(header.palette ? header.desc.extent.pixels() : 0));
  reader.pixels = header.palette ? indices.data() : image.data();
  reader.row_bytes = header.palette ? header.desc.extent.width : header.desc.bytes() / header.desc.extent.height;
  run_or_throw(reader, read_pixels);
  if (header.palette) expand_palette(reader, indices, image);
  ReadResult result;
  result.notes = header.notes;
  result.warnings = reader.warnings;
  if (chunks.profile) result.warnings.push_back(profile_dropped);
  result.pages.push_back(apply_orientation(std::move(image), header.orientation));
  return result;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t pages) {
  if (auto reason = not_one_2d_image("PNG", desc, pages)) return reason;
  const char* holds = "uint8 or uint16 gray, gray+alpha, RGB or RGBA";
  const bool channels_fit =
      desc.alpha ? desc.channels == 2 || desc.channels == 4 : desc.channels == 1 || desc.channels == 3;
  if (!channels_fit) return cannot_hold_samples("PNG", holds, desc, "write .tif or .npy");
  if (desc.dtype != DType::u8 && desc.dtype != DType::u16)
    return cannot_hold_samples("PNG", holds, desc, "write .tif, or add a step `rescale: uint16`");
  if (desc.extent.width > largest_side || desc.extent.height > largest_side)
    return "PNG holds sides of up to 2147483647 pixels: write .tif or .npy";
  return std::nullopt;
}

class Writer : public Session<Writer> {
 public:
  Writer(OutputFile& out, const Image& image, int level) : out(out), image(image), level(level) {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, static_cast<Session<Writer>*>(this), fail, warn);
    info = png ? png_create_info_struct(png) : nullptr;
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }

  static void write_bytes(png_structp png, png_bytep from, std::size_t size) {
    auto& writer = *static_cast<Writer*>(png_get_io_ptr(png));
    if (!writer.out.write(from, size)) png_error(png, "cannot be written");
  }

  OutputFile& out;
  const Image& image;
  int level;
};

std::optional<double> metres(const std::string& unit) {
  if (unit == "m") return 1;
  if (unit == "mm") return 1e-3;
  if (unit == "um") return 1e-6;
  if (unit == "nm") return 1e-9;
  return std::nullopt;
}

void set_resolution(Writer& writer, const Geometry& geometry) {
  const auto unit = metres(geometry.unit);
  if (!unit) return;
  const double x = std::round(1 / (geometry.spacing[0] * *unit)), y = std::round(1 / (geometry.spacing[1] * *unit));
  const bool fits = x >= 1 && y >= 1 && x <= largest_side && y <= largest_side;
  if (!fits) return;
  png_set_pHYs(writer.png, writer.info, static_cast<png_uint_32>(x), static_cast<png_uint_32>(y), PNG_RESOLUTION_METER);
}

void write_image(Writer& writer) {
  png_structp png = writer.png;
  const ImageDesc& desc = writer.image.desc();
  const int colours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_write_fn(png, &writer, Writer::write_bytes, nullptr);
  png_set_user_limits(png, largest_side, largest_side);
  png_set_compression_level(png, writer.level);
  png_set_IHDR(png, writer.info, static_cast<png_uint_32>(desc.extent.width),
               static_cast<png_uint_32>(desc.extent.height), static_cast<int>(8 * size_of(desc.dtype)),
               colours[desc.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  set_resolution(writer, desc.geometry);
  png_write_info(png, writer.info);
  if (desc.dtype == DType::u16 && std::endian::native == std::endian::little) png_set_swap(png);
  const std::int64_t row_bytes = desc.bytes() / desc.extent.height;
  const auto* pixels = reinterpret_cast<png_const_bytep>(writer.image.data());
  for (std::int64_t y = 0; y < desc.extent.height; ++y) png_write_row(png, pixels + y * row_bytes);
  png_write_end(png, nullptr);
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions& options) {
  const Image& image = the_image(path, pages, spec());
  OutputFile out(path);
  Writer writer(out, image, options.compression_level);
  const bool done = writer.png && writer.info && writer.run(write_image);
  out.close();
  if (!done) throw InputError(path, std::string("cannot be written as PNG: ") + writer.error);
}

bool sniff(std::span<const std::byte> head) {
  return head.size() >= sizeof signature && std::memcmp(head.data(), signature, sizeof signature) == 0;
}

}  // namespace

Format spec() {
  return {.name = "png",
          .summary = "PNG: uint8 and uint16, gray or RGB, with or without alpha; lossless",
          .suffixes = {".png"},
          .priority = 100,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::png
