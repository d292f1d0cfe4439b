#include "io/formats/bmp/bmp.h"

#include <cmath>
#include <cstring>

#include "io/formats/bmp/header.h"
#include "io/formats/bmp/run_lengths.h"

namespace imgpipe::bmp {
namespace {

constexpr std::int64_t largest_file = 0xffffffff, largest_side = 0x7fffffff;

FileInfo read_info(const std::string& path) {
  const InputFile file(path);
  const Header header = read_header(file);
  return {{header.desc}, false, header.run_lengths() ? "rle" : "none", header.notes};
}

/// A row of palette indices of `bits` bits each.
void expand_row(const InputFile& file, const Header& header, const std::uint8_t* row, int bits, std::uint8_t* out) {
  const int channels = header.desc.channels, in_byte = 8 / bits;
  for (std::int64_t x = 0; x < header.desc.extent.width; ++x, out += channels) {
    const int shift = 8 - bits - static_cast<int>(x % in_byte) * bits;
    const std::size_t index = row[x / in_byte] >> shift & ((1 << bits) - 1);
    if (index >= header.palette.size())
      throw InputError(file.path(), "damaged: a pixel's colour is not in the palette");
    for (int c = 0; c < channels; ++c) out[c] = header.palette[index][static_cast<std::size_t>(c)];
  }
}

void reverse_colours(const std::uint8_t* in, std::int64_t pixels, std::uint8_t* out) {
  for (std::int64_t x = 0; x < pixels; ++x, in += 3, out += 3) {
    out[0] = in[2];
    out[1] = in[1];
    out[2] = in[0];
  }
}

void unmask_row(const Header& header, const std::uint8_t* row, std::uint8_t* out) {
  const int bytes = header.bits / 8, channels = header.desc.channels;
  for (std::int64_t x = 0; x < header.desc.extent.width; ++x, row += bytes, out += channels) {
    std::uint32_t pixel = 0;
    for (int i = 0; i < bytes; ++i) pixel |= std::uint32_t{row[i]} << 8 * i;
    for (int c = 0; c < channels; ++c) out[c] = header.masks[static_cast<std::size_t>(c)].sample(pixel);
  }
}

void read_row(const InputFile& file, const Header& header, const std::uint8_t* row, std::uint8_t* out) {
  if (header.bits <= 8)
    expand_row(file, header, row, header.bits, out);
  else if (header.bits == 24)
    reverse_colours(row, header.desc.extent.width, out);
  else
    unmask_row(header, row, out);
}

Image read_rows(const InputFile& file, const Header& header) {
  Image image(header.desc);
  const std::int64_t height = header.desc.extent.height, row_bytes = header.desc.bytes() / height;
  std::vector<std::uint8_t> row(static_cast<std::size_t>(header.stride()));
  for (std::int64_t stored = 0; stored < height; ++stored) {
    file.read(header.offset + stored * header.stride(), std::as_writable_bytes(std::span(row)));
    const std::int64_t y = header.top_down ? stored : height - 1 - stored;
    read_row(file, header, row.data(), image.samples<std::uint8_t>() + y * row_bytes);
  }
  return image;
}

Image read_run_lengths(const InputFile& file, const Header& header, std::vector<std::string>& warnings) {
  const Indices indices = decode_run_lengths(file, header);
  if (indices.skipped) warnings.push_back("the RLE data skip pixels; they have the palette's first colour");
  Image image(header.desc);
  const std::int64_t width = header.desc.extent.width, height = header.desc.extent.height;
  for (std::int64_t y = 0; y < height; ++y)
    expand_row(file, header, indices.values.data() + (height - 1 - y) * width, 8,
               image.samples<std::uint8_t>() + y * width * header.desc.channels);
  return image;
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  if (!wants_the_page(path, first, count)) return {};
  const InputFile file(path);
  const Header header = read_header(file);
  ReadResult result;
  result.notes = header.notes;
  if (header.profile) result.warnings.push_back(profile_dropped);
  result.pages.push_back(header.run_lengths() ? read_run_lengths(file, header, result.warnings)
                                              : read_rows(file, header));
  return result;
}

/// The rows of a file that is to be written, and all before them.
struct Layout {
  int bits = 24;
  std::int64_t header_bytes = 40, palette_bytes = 0, stride = 0;
  std::int64_t offset() const { return file_header_bytes + header_bytes + palette_bytes; }
};

Layout layout_of(const ImageDesc& desc) {
  Layout layout;
  layout.bits = 8 * desc.channels;
  if (desc.channels == 1) layout.palette_bytes = 256 * 4;
  if (desc.channels == 4) layout.header_bytes = 108;
  layout.stride = (desc.extent.width * layout.bits + 31) / 32 * 4;
  return layout;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t pages) {
  if (auto reason = not_one_2d_image("BMP", desc, pages)) return reason;
  const char* holds = "uint8 gray, RGB or RGBA";
  if (desc.dtype != DType::u8)
    return cannot_hold_samples("BMP", holds, desc, "write .png or .tif, or add a step `rescale: uint8`");
  if (desc.channels != (desc.alpha ? 4 : 3) && (desc.channels != 1 || desc.alpha))
    return cannot_hold_samples("BMP", holds, desc, "write .png or .tif");
  const Layout layout = layout_of(desc);
  if (desc.extent.width > largest_side || desc.extent.height > largest_side ||
      layout.stride > (largest_file - layout.offset()) / desc.extent.height)
    return "BMP holds up to 4 GiB: write .png or .tif";
  return std::nullopt;
}

class Numbers {
 public:
  Numbers& number(std::int64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> 8 * i);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::int64_t pixels_per_metre(double spacing, const std::string& unit) {
  const double metre = unit == "m" ? 1 : unit == "mm" ? 1e3 : unit == "um" ? 1e6 : unit == "nm" ? 1e9 : 0;
  const double pixels = std::round(metre / spacing);
  return pixels >= 1 && pixels <= static_cast<double>(largest_side) ? static_cast<std::int64_t>(pixels) : 0;
}

std::string headers_of(const ImageDesc& desc, const Layout& layout) {
  const std::int64_t pixel_bytes = layout.stride * desc.extent.height;
  const Geometry& g = desc.geometry;
  Numbers out;
  out.number('B' | 'M' << 8, 2).number(layout.offset() + pixel_bytes, 4).number(0, 4).number(layout.offset(), 4);
  out.number(layout.header_bytes, 4).number(desc.extent.width, 4).number(desc.extent.height, 4);
  out.number(1, 2).number(layout.bits, 2);
  out.number(static_cast<int>(desc.channels == 4 ? Compression::masks : Compression::none), 4).number(pixel_bytes, 4);
  out.number(pixels_per_metre(g.spacing[0], g.unit), 4).number(pixels_per_metre(g.spacing[1], g.unit), 4);
  out.number(desc.channels == 1 ? 256 : 0, 4).number(0, 4);
  for (int i = 0; i < 256 && desc.channels == 1; ++i) out.number(i * 0x010101, 4);
  if (desc.channels == 4) {
    for (std::int64_t mask : {0xff0000ll, 0xff00ll, 0xffll, 0xff000000ll}) out.number(mask, 4);
    out.number(0x73524742, 4);  // the colour space "sRGB": end points and gammas do not count
    for (int i = 0; i < 12; ++i) out.number(0, 4);
  }
  return out.text();
}

void write_row(const std::uint8_t* in, const ImageDesc& desc, std::uint8_t* out) {
  const std::int64_t width = desc.extent.width;
  if (desc.channels == 1) std::memcpy(out, in, static_cast<std::size_t>(width));
  if (desc.channels == 3) reverse_colours(in, width, out);
  for (std::int64_t i = 0; desc.channels == 4 && i < 4 * width; i += 4) {
    out[i] = in[i + 2];
    out[i + 1] = in[i + 1];
    out[i + 2] = in[i];
    out[i + 3] = in[i + 3];
  }
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions&) {
  const Image& image = the_image(path, pages, spec());
  const ImageDesc& desc = image.desc();
  const Layout layout = layout_of(desc);
  const std::string headers = headers_of(desc, layout);
  OutputFile out(path);
  out.write(headers.data(), headers.size());
  std::vector<std::uint8_t> row(static_cast<std::size_t>(layout.stride));
  for (std::int64_t y = desc.extent.height - 1; y >= 0; --y) {
    write_row(image.samples<std::uint8_t>() + y * desc.extent.width * desc.channels, desc, row.data());
    out.write(row.data(), row.size());
  }
  out.close();
}

/// Two letters are little to go by: the size of the second header must be one that there is.
bool sniff(std::span<const std::byte> head) {
  if (head.size() < 18 || std::memcmp(head.data(), "BM", 2) != 0) return false;
  const bool small = head[15] == std::byte{0} && head[16] == std::byte{0} && head[17] == std::byte{0};
  return small && head[14] >= std::byte{12} && head[14] <= std::byte{124};
}

}  // namespace

Format spec() {
  return {.name = "bmp",
          .summary = "BMP: uint8 gray, RGB or RGBA; not compressed",
          .suffixes = {".bmp"},
          .priority = 5,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::bmp
