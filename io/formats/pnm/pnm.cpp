#include "io/formats/pnm/pnm.h"

#include <algorithm>

#include "io/formats/netpbm.h"

namespace imgpipe::pnm {
namespace {

using netpbm::Text;

/// One image of a file: its header, and where its samples are.
struct Picture {
  ImageDesc desc;
  bool bitmap = false, plain = false;
  std::int64_t maxval = 255;
  std::int64_t offset = 0;

  std::int64_t packed_row() const { return (desc.extent.width + 7) / 8; }
  /// What the samples take at least: text has a digit a sample, and blanks between numbers.
  std::int64_t stored_bytes() const {
    if (plain) return bitmap ? desc.samples() : 2 * desc.samples() - 1;
    return bitmap ? packed_row() * desc.extent.height : desc.bytes();
  }
};

bool is_magic(char p, char digit) { return p == 'P' && digit >= '1' && digit <= '6'; }

Picture read_header(const InputFile& file, std::int64_t at) {
  Text text(file, at);
  const char p = text.next(), digit = text.next();
  if (!is_magic(p, digit)) throw InputError(file.path(), "damaged header: it does not begin with P1 to P6");
  if (!netpbm::is_space(text.next_without_comment()))
    throw InputError(file.path(), std::string("damaged header: no white space behind P") + digit);
  Picture picture;
  picture.bitmap = digit == '1' || digit == '4';
  picture.plain = digit <= '3';
  picture.desc.channels = digit == '3' || digit == '6' ? 3 : 1;
  picture.desc.extent.width = text.number("width");
  picture.desc.extent.height = text.number("height");
  if (!picture.bitmap) {
    picture.maxval = text.number("maxval");
    picture.desc.dtype = netpbm::dtype_for(file, picture.maxval);
  }
  picture.offset = text.offset();
  check_size(file.path(), picture.desc);
  if (file.size() - picture.offset < picture.stored_bytes())
    throw InputError(file.path(), "truncated: the header says " + describe(picture.desc) + ", the file ends before");
  return picture;
}

/// All images of a file, and how many bytes behind the last belong to none. Only raw images can be followed by another.
struct Contents {
  std::vector<Picture> pictures;
  std::int64_t trailing = 0;
};

Contents read_headers(const InputFile& file) {
  Contents contents;
  for (std::int64_t at = 0;;) {
    contents.pictures.push_back(read_header(file, at));
    const Picture& last = contents.pictures.back();
    if (last.plain) return contents;
    Text text(file, last.offset + last.stored_bytes());
    const std::int64_t end = text.offset();
    text.skip_space();
    at = text.offset();
    if (text.at_end()) return contents;
    contents.trailing = file.size() - end;
    const char p = text.next();
    if (text.at_end() || !is_magic(p, text.peek())) return contents;
    contents.trailing = 0;
  }
}

std::vector<std::string> notes_of(const Picture& picture) {
  if (picture.bitmap) return {"bitmap read as uint8: black is 0, white is 255"};
  return netpbm::maxval_notes(picture.desc, picture.maxval);
}

FileInfo read_info(const std::string& path) {
  const InputFile file(path);
  const Contents contents = read_headers(file);
  FileInfo info;
  for (const Picture& picture : contents.pictures) info.pages.push_back(picture.desc);
  info.compression = "none";
  info.notes = notes_of(contents.pictures[0]);
  return info;
}

void read_packed_bitmap(const InputFile& file, const Picture& picture, Image& image) {
  const std::int64_t width = picture.desc.extent.width;
  std::vector<std::byte> row(static_cast<std::size_t>(picture.packed_row()));
  auto* out = image.samples<std::uint8_t>();
  for (std::int64_t y = 0; y < picture.desc.extent.height; ++y) {
    file.read(picture.offset + y * picture.packed_row(), row);
    for (std::int64_t x = 0; x < width; ++x) {
      const bool ink = (static_cast<unsigned>(row[x / 8]) >> (7 - x % 8) & 1) != 0;
      *out++ = ink ? 0 : 255;
    }
  }
}

/// The digits of a bitmap need no blanks between them.
void read_text_bitmap(const InputFile& file, Text& text, Image& image) {
  auto* out = image.samples<std::uint8_t>();
  for (std::int64_t i = 0; i < image.desc().samples(); ++i) {
    char c = text.next_without_comment();
    while (netpbm::is_space(c)) c = text.next_without_comment();
    if (c != '0' && c != '1') throw InputError(file.path(), "damaged: a bitmap has digits other than 0 and 1");
    *out++ = c == '1' ? 0 : 255;
  }
}

std::int64_t next_number(const InputFile& file, Text& text) {
  char c = text.next_without_comment();
  while (netpbm::is_space(c)) c = text.next_without_comment();
  std::int64_t value = 0;
  for (;; c = text.next()) {
    if (c < '0' || c > '9') throw InputError(file.path(), "damaged: a sample is not a number");
    value = std::min<std::int64_t>(10 * value + (c - '0'), 1 << 20);
    if (text.at_end() || netpbm::is_space(text.peek()) || text.peek() == '#') return value;
  }
}

template <class T>
void read_numbers(const InputFile& file, Text& text, std::int64_t maxval, Image& image) {
  for (std::int64_t i = 0; i < image.desc().samples(); ++i) {
    const std::int64_t value = next_number(file, text);
    if (value > maxval)
      throw InputError(file.path(), "damaged: a sample is larger than maxval " + std::to_string(maxval));
    image.samples<T>()[i] = static_cast<T>(value);
  }
}

Image read_text(const InputFile& file, const Picture& picture, std::vector<std::string>& warnings) {
  Image image(picture.desc);
  Text text(file, picture.offset);
  if (picture.bitmap)
    read_text_bitmap(file, text, image);
  else if (picture.desc.dtype == DType::u8)
    read_numbers<std::uint8_t>(file, text, picture.maxval, image);
  else
    read_numbers<std::uint16_t>(file, text, picture.maxval, image);
  text.skip_space();
  if (!text.at_end()) warnings.push_back(netpbm::trailing_bytes(file.size() - text.offset()));
  return image;
}

Image read_samples(const InputFile& file, const Picture& picture) {
  Image image(picture.desc);
  if (picture.bitmap) {
    read_packed_bitmap(file, picture, image);
  } else {
    netpbm::read_raw(file, picture.offset, image);
    netpbm::check_samples(file, image, picture.maxval);
  }
  return image;
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  const InputFile file(path);
  const Contents contents = read_headers(file);
  const auto& pictures = contents.pictures;
  ReadResult result;
  if (count == 0) return result;
  if (first >= pictures.size())
    throw InputError(path, "has " + std::to_string(pictures.size()) + " pages, not page " + std::to_string(first + 1));
  result.notes = notes_of(pictures[first]);
  if (contents.trailing > 0) result.warnings.push_back(netpbm::trailing_bytes(contents.trailing));
  for (std::size_t i = first; i < pictures.size() && i - first < count; ++i)
    result.pages.push_back(pictures[i].plain ? read_text(file, pictures[i], result.warnings)
                                             : read_samples(file, pictures[i]));
  return result;
}

/// A .pgm with colours, or a .ppm without, is a file that other programs misread.
std::optional<std::string> misnamed(const std::string& path, const ImageDesc& desc) {
  std::string suffix = path.substr(path.size() - std::min<std::size_t>(path.size(), 4));
  for (char& c : suffix) c = static_cast<char>(c | 0x20);
  if (suffix == ".pgm" && desc.channels == 3) return "a .pgm is gray, not RGB: write .ppm or .pnm";
  if (suffix == ".ppm" && desc.channels == 1) return "a .ppm is RGB, not gray: write .pgm or .pnm";
  return std::nullopt;
}

std::optional<std::string> cannot_hold(const std::string& path, const ImageDesc& desc, std::size_t pages) {
  if (auto reason = not_one_2d_image("PGM/PPM", desc, pages)) return reason;
  const char* holds = "uint8 or uint16 gray or RGB";
  if (desc.dtype != DType::u8 && desc.dtype != DType::u16)
    return cannot_hold_samples("PGM/PPM", holds, desc, "write .pfm or .tif, or add a step `rescale: uint16`");
  if (desc.alpha || (desc.channels != 1 && desc.channels != 3))
    return cannot_hold_samples("PGM/PPM", holds, desc, "write .pam or .tif");
  return misnamed(path, desc);
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions&) {
  const Image& image = the_image(path, pages, spec());
  const ImageDesc& desc = image.desc();
  const std::string header = std::string(desc.channels == 3 ? "P6" : "P5") + "\n" + std::to_string(desc.extent.width) +
                             " " + std::to_string(desc.extent.height) + "\n" +
                             (desc.dtype == DType::u8 ? "255" : "65535") + "\n";
  OutputFile out(path);
  out.write(header.data(), header.size());
  netpbm::write_raw(out, image);
  out.close();
}

bool sniff(std::span<const std::byte> head) {
  if (head.size() < 3 || !is_magic(static_cast<char>(head[0]), static_cast<char>(head[1]))) return false;
  return netpbm::is_space(static_cast<char>(head[2])) || head[2] == std::byte{'#'};
}

}  // namespace

Format spec() {
  return {.name = "pnm",
          .summary = "PBM, PGM and PPM: uint8 and uint16, gray or RGB; not compressed",
          .suffixes = {".ppm", ".pgm", ".pnm"},
          .priority = 10,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::pnm
