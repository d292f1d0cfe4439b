#include "io/formats/bmp/bmp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "io/formats/single_image.h"

namespace imgpipe::bmp {
namespace {

enum Compression : std::uint32_t { none = 0, rle8 = 1, rle4 = 2, bitfields = 3, alpha_bitfields = 6 };

constexpr std::int64_t file_header_bytes = 14;

/// Little-endian numbers of a block of bytes.
struct Fields {
  std::vector<std::byte> bytes;
  std::uint32_t at(std::size_t offset, int size) const {
    std::uint32_t value = 0;
    for (int i = 0; i < size && offset + i < bytes.size(); ++i)
      value |= std::to_integer<std::uint32_t>(bytes[offset + i]) << (8 * i);
    return value;
  }
};

/// Where the bits of a channel lie in a pixel.
struct Mask {
  std::uint32_t mask = 0;
  std::uint8_t value(std::uint32_t pixel) const {
    const int shift = std::countr_zero(mask);
    const std::uint64_t most = mask >> shift, v = (pixel & mask) >> shift;
    return static_cast<std::uint8_t>((2 * v * 255 + most) / (2 * most));
  }
};

struct Header {
  ImageDesc desc;
  int bits = 0;
  std::uint32_t compression = none;
  bool top_down = false;
  std::array<Mask, 4> masks{};                       ///< red, green, blue, alpha
  std::vector<std::array<std::uint8_t, 3>> palette;  ///< red, green, blue
  std::int64_t raster = 0;
  std::vector<std::string> notes;

  bool run_lengths() const { return compression == rle8 || compression == rle4; }
  std::int64_t row_bytes() const { return (desc.extent.width * bits + 31) / 32 * 4; }
};

class HeaderReader {
 public:
  explicit HeaderReader(const InputFile& file) : file_(file) {}

  Header run() {
    fields_.bytes = file_.bytes(0, file_header_bytes + 4);
    header_.raster = fields_.at(10, 4);
    size_ = fields_.at(14, 4);
    if (size_ != 12 && size_ != 16 && !(size_ >= 40 && size_ <= 124))
      fail("a header of " + std::to_string(size_) + " bytes is unknown");
    fields_.bytes = file_.bytes(file_header_bytes, size_);
    size_ == 12 ? core() : info();
    read_masks();
    read_palette();
    describe_image();
    check();
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(file_.path(), "damaged BMP: " + what); }

  void core() {
    header_.desc.extent = {fields_.at(4, 2), fields_.at(6, 2), 1};
    header_.bits = static_cast<int>(fields_.at(10, 2));
  }

  void info() {
    const auto width = static_cast<std::int32_t>(fields_.at(4, 4)),
               height = static_cast<std::int32_t>(fields_.at(8, 4));
    header_.top_down = height < 0;
    header_.desc.extent = {width, std::abs(static_cast<std::int64_t>(height)), 1};
    header_.bits = static_cast<int>(fields_.at(14, 2));
    header_.compression = fields_.at(16, 4);
    const auto x = static_cast<std::int32_t>(fields_.at(24, 4)), y = static_cast<std::int32_t>(fields_.at(28, 4));
    if (x > 0 && y > 0) header_.desc.geometry = {{1000.0 / x, 1000.0 / y, 1}, {0, 0, 0}, "mm"};
  }

  void read_masks() {
    const bool own = header_.compression == bitfields || header_.compression == alpha_bitfields;
    if (own && header_.bits != 16 && header_.bits != 32) fail("bit fields need 16 or 32 bits a pixel");
    if (header_.bits == 16) header_.masks = {{{0x7c00}, {0x3e0}, {0x1f}, {0}}};
    if (header_.bits == 32) header_.masks = {{{0xff0000}, {0xff00}, {0xff}, {0}}};
    if (!own) return;
    const std::size_t count = header_.compression == alpha_bitfields || size_ >= 56 ? 4 : 3;
    if (size_ == 40) fields_.bytes = file_.bytes(file_header_bytes, size_ + 4 * static_cast<std::int64_t>(count));
    for (std::size_t c = 0; c < count; ++c) header_.masks[c].mask = fields_.at(40 + 4 * c, 4);
    for (std::size_t c = 0; c < 3; ++c)
      if (header_.masks[c].mask == 0) fail("a colour has no bits");
  }

  void read_palette() {
    if (header_.bits > 8) return;
    if (header_.bits != 1 && header_.bits != 2 && header_.bits != 4 && header_.bits != 8)
      fail(std::to_string(header_.bits) + " bits a pixel are unknown");
    const std::int64_t entry = size_ == 12 ? 3 : 4, begin = file_header_bytes + size_;
    const std::int64_t stated = size_ == 12 ? 0 : fields_.at(32, 4);
    std::int64_t count = stated > 0 ? stated : std::int64_t(1) << header_.bits;
    if (count > std::int64_t(1) << header_.bits) fail("its palette is too long");
    if (header_.raster > begin) count = std::min(count, (header_.raster - begin) / entry);
    const Fields colours{file_.bytes(begin, count * entry)};
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i * entry);
      header_.palette.push_back({static_cast<std::uint8_t>(colours.at(at + 2, 1)),
                                 static_cast<std::uint8_t>(colours.at(at + 1, 1)),
                                 static_cast<std::uint8_t>(colours.at(at, 1))});
    }
  }

  void describe_image() {
    const bool gray =
        !header_.palette.empty() && std::all_of(header_.palette.begin(), header_.palette.end(),
                                                [](const auto& c) { return c[0] == c[1] && c[1] == c[2]; });
    header_.desc.alpha = header_.bits > 8 && header_.masks[3].mask != 0;
    header_.desc.channels = gray ? 1 : header_.desc.alpha ? 4 : 3;
    if (header_.bits <= 8) header_.notes.push_back(gray ? "palette of grays expanded" : "palette expanded to RGB");
    if (header_.bits == 32 && !header_.desc.alpha) header_.notes.push_back("fourth byte of each pixel is padding");
    if (header_.bits == 16) header_.notes.push_back("16-bit pixels expanded to uint8 RGB");
  }

  void check() const {
    const int bits = header_.bits;
    if (header_.raster < file_header_bytes + size_) fail("its pixels begin within its header");
    if (bits > 8 && bits != 16 && bits != 24 && bits != 32) fail(std::to_string(bits) + " bits a pixel are unknown");
    if (header_.compression > bitfields && header_.compression != alpha_bitfields)
      throw InputError(file_.path(), "BMP compression " + std::to_string(header_.compression) + " is not supported");
    if ((header_.compression == rle8 && bits != 8) || (header_.compression == rle4 && bits != 4))
      fail("run lengths do not fit its " + std::to_string(bits) + " bits a pixel");
    if (header_.run_lengths() && header_.top_down) fail("run lengths cannot go from the top down");
    if (bits <= 8 && header_.palette.empty()) fail("its palette is empty");
    check_size(file_.path(), header_.desc);
    const std::int64_t left = file_.size() - header_.raster;
    if (header_.run_lengths())
      return check_ratio(file_.path(), std::max<std::int64_t>(0, left), header_.desc.extent.pixels(), 1 << 15);
    if (left < header_.row_bytes() * header_.desc.extent.height)
      throw InputError(file_.path(), "truncated: " + std::to_string(std::max<std::int64_t>(0, left)) +
                                         " bytes cannot hold " + describe(header_.desc));
  }

  const InputFile& file_;
  Fields fields_;
  std::int64_t size_ = 0;
  Header header_;
};

/// Palette numbers to samples. Throws for a number that the palette does not have.
void put_colour(const InputFile& file, const Header& header, unsigned index, std::uint8_t* out) {
  if (index >= header.palette.size()) throw InputError(file.path(), "damaged BMP: a pixel is not in its palette");
  std::copy_n(header.palette[index].begin(), header.desc.channels, out);
}

void expand_row(const InputFile& file, const Header& header, const std::uint8_t* row, std::uint8_t* out) {
  const int bits = header.bits, channels = header.desc.channels;
  for (std::int64_t x = 0; x < header.desc.extent.width; ++x, out += channels) {
    if (bits <= 8) {
      const std::int64_t at = x * bits;
      put_colour(file, header, row[at / 8] >> (8 - bits - at % 8) & ((1 << bits) - 1), out);
    } else if (bits == 24) {
      std::reverse_copy(row + 3 * x, row + 3 * x + 3, out);
    } else {
      std::uint32_t pixel = 0;
      for (int i = 0; i < bits / 8; ++i) pixel |= std::uint32_t(row[x * bits / 8 + i]) << (8 * i);
      for (int c = 0; c < channels; ++c) out[c] = header.masks[c].value(pixel);
    }
  }
}

/// Palette numbers, row by row from the bottom; pixels that the runs skip are 0.
std::vector<std::uint8_t> decode_runs(const InputFile& file, const Header& header) {
  const std::int64_t width = header.desc.extent.width, height = header.desc.extent.height;
  const std::vector<std::byte> code = file.bytes(header.raster, file.size() - header.raster);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height), 0);
  std::int64_t x = 0, y = 0;
  std::size_t at = 0;
  const auto next = [&]() -> int {
    if (at >= code.size()) throw InputError(file.path(), "truncated: the runs end too early");
    return std::to_integer<int>(code[at++]);
  };
  const auto put = [&](int value) {
    if (x >= width || y >= height) throw InputError(file.path(), "damaged BMP: a run leaves the image");
    pixels[static_cast<std::size_t>(y * width + x++)] = static_cast<std::uint8_t>(value);
  };
  const bool nibbles = header.compression == rle4;
  const auto part = [&](int byte, int i) { return !nibbles ? byte : i % 2 == 0 ? byte >> 4 : byte & 15; };
  for (;;) {
    const int count = next(), value = next();
    if (count > 0) {
      for (int i = 0; i < count; ++i) put(part(value, i));
    } else if (value == 0) {
      x = 0, ++y;
    } else if (value == 1) {
      return pixels;
    } else if (value == 2) {
      x += next(), y += next();
    } else {
      int byte = 0;
      for (int i = 0; i < value; ++i) put(part(!nibbles || i % 2 == 0 ? byte = next() : byte, i));
      if ((nibbles ? (value + 1) / 2 : value) % 2 == 1) next();
    }
  }
}

void read_runs(const InputFile& file, const Header& header, Image& image) {
  const std::vector<std::uint8_t> pixels = decode_runs(file, header);
  const std::int64_t width = header.desc.extent.width, height = header.desc.extent.height;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      put_colour(file, header, pixels[static_cast<std::size_t>((height - 1 - y) * width + x)],
                 image.samples<std::uint8_t>() + (y * width + x) * header.desc.channels);
}

void read_rows(const InputFile& file, const Header& header, Image& image) {
  const std::int64_t height = header.desc.extent.height, samples = header.desc.extent.width * header.desc.channels;
  std::vector<std::uint8_t> row(static_cast<std::size_t>(header.row_bytes()));
  for (std::int64_t y = 0; y < height; ++y) {
    file.read(header.raster + y * header.row_bytes(), std::as_writable_bytes(std::span(row)));
    const std::int64_t to = header.top_down ? y : height - 1 - y;
    expand_row(file, header, row.data(), image.samples<std::uint8_t>() + to * samples);
  }
}

FileInfo read_info(const std::string& path) {
  const InputFile file(path);
  const Header header = HeaderReader(file).run();
  return {{header.desc}, false, header.run_lengths() ? "run lengths" : "none", header.notes};
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  if (!wants_the_page(path, first, count)) return {};
  const InputFile file(path);
  const Header header = HeaderReader(file).run();
  Image image(header.desc);
  header.run_lengths() ? read_runs(file, header, image) : read_rows(file, header, image);
  ReadResult result;
  result.notes = header.notes;
  result.pages.push_back(std::move(image));
  return result;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t pages) {
  if (auto reason = not_one_2d_image("BMP", desc, pages)) return reason;
  const bool channels_fit = desc.alpha ? desc.channels == 4 : desc.channels == 1 || desc.channels == 3;
  if (desc.dtype != DType::u8 || !channels_fit)
    return cannot_hold_samples("BMP", "uint8 gray, RGB or RGBA", desc, "write .png or .tif");
  const bool fits =
      desc.extent.width < 1 << 30 && desc.extent.height < 1 << 30 && desc.bytes() < (std::int64_t(1) << 32) - 4096;
  return fits ? std::nullopt : std::optional<std::string>("BMP holds up to 4 GiB: write .tif");
}

void append(std::vector<std::byte>& bytes, std::uint32_t value, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 255));
}

std::uint32_t pixels_per_metre(const Geometry& geometry, int axis) {
  const double metres = geometry.unit == "m" ? 1 : geometry.unit == "mm" ? 1e-3 : geometry.unit == "um" ? 1e-6 : 0;
  const double density = metres > 0 ? std::round(1 / (geometry.spacing[axis] * metres)) : 0;
  return density >= 1 && density < 0x7fffffff ? static_cast<std::uint32_t>(density) : 0;
}

/// File header, image header (V4 when there is alpha) and the palette of grays.
std::vector<std::byte> headers(const ImageDesc& desc, std::int64_t row_bytes) {
  const int channels = desc.channels;
  const std::uint32_t size = desc.alpha ? 108 : 40, colours = channels == 1 ? 256 : 0;
  const std::uint32_t raster = 14 + size + 4 * colours;
  const auto image_bytes = static_cast<std::uint32_t>(row_bytes * desc.extent.height);
  std::vector<std::byte> bytes{std::byte{'B'}, std::byte{'M'}};
  for (std::uint32_t field : {raster + image_bytes, 0u, raster, size, static_cast<std::uint32_t>(desc.extent.width),
                              static_cast<std::uint32_t>(desc.extent.height)})
    append(bytes, field, 4);
  append(bytes, 1, 2);
  append(bytes, static_cast<std::uint32_t>(8 * channels), 2);
  for (std::uint32_t field : {desc.alpha ? std::uint32_t(bitfields) : std::uint32_t(none), image_bytes,
                              pixels_per_metre(desc.geometry, 0), pixels_per_metre(desc.geometry, 1), colours, 0u})
    append(bytes, field, 4);
  if (desc.alpha) {
    for (std::uint32_t field : {0xff0000u, 0xff00u, 0xffu, 0xff000000u, 0x73524742u}) append(bytes, field, 4);
    bytes.resize(raster);
  }
  for (std::uint32_t i = 0; i < colours; ++i) append(bytes, i * 0x10101u, 4);
  return bytes;
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions&) {
  const Image& image = the_image(path, pages, spec());
  const ImageDesc& desc = image.desc();
  const std::int64_t samples = desc.extent.width * desc.channels, row_bytes = (samples + 3) / 4 * 4;
  OutputFile out(path);
  const std::vector<std::byte> head = headers(desc, row_bytes);
  out.write(head.data(), head.size());
  std::vector<std::uint8_t> row(static_cast<std::size_t>(row_bytes), 0);
  for (std::int64_t y = desc.extent.height - 1; y >= 0; --y) {
    std::memcpy(row.data(), image.samples<std::uint8_t>() + y * samples, static_cast<std::size_t>(samples));
    if (desc.channels > 1)
      for (std::int64_t x = 0; x < samples; x += desc.channels) std::swap(row[x], row[x + 2]);
    out.write(row.data(), row.size());
  }
  out.close();
}

bool sniff(std::span<const std::byte> head) {
  if (head.size() < 18 || std::memcmp(head.data(), "BM", 2) != 0) return false;
  const int size = std::to_integer<int>(head[14]);
  return head[15] == std::byte{0} && (size == 12 || size == 16 || (size >= 40 && size <= 124));
}

}  // namespace

Format spec() {
  return {.name = "bmp",
          .summary = "BMP: uint8 gray or RGB, with or without alpha; not compressed",
          .suffixes = {".bmp", ".dib"},
          .priority = 20,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::bmp
