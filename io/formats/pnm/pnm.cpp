#include "io/formats/pnm/pnm.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "io/formats/single_image.h"

namespace imgpipe::pnm {
namespace {

constexpr std::int64_t longest_header = 1 << 16;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The bytes of a file in order, a block at a time.
class Bytes {
 public:
  Bytes(const InputFile& file, std::int64_t at) : file_(file), at_(at) {}
  std::int64_t at() const { return at_; }
  /// The next byte, -1 at the end of the file.
  int peek() {
    if (at_ < begin_ || at_ >= begin_ + static_cast<std::int64_t>(size_)) fill();
    return size_ == 0 ? -1 : static_cast<unsigned char>(block_[static_cast<std::size_t>(at_ - begin_)]);
  }
  int next() {
    const int c = peek();
    if (c >= 0) ++at_;
    return c;
  }

 private:
  void fill() {
    begin_ = at_;
    size_ = file_.read_some(at_, std::as_writable_bytes(std::span(block_)));
  }
  const InputFile& file_;
  std::int64_t at_, begin_ = 0;
  std::size_t size_ = 0;
  char block_[1 << 14];
};

struct Header {
  char kind = 0;  ///< '1' … '7', 'F' (RGB) or 'f' (gray) of PFM
  ImageDesc desc;
  std::int64_t maxval = 1;
  bool little = false;
  std::int64_t raster = 0;  ///< offset of the samples
  std::vector<std::string> notes;

  bool is_text() const { return kind >= '1' && kind <= '3'; }
  bool is_bitmap() const { return kind == '1' || kind == '4'; }
  bool is_float() const { return kind == 'F' || kind == 'f'; }
  std::int64_t row_bytes() const {
    if (kind == '4') return (desc.extent.width + 7) / 8;
    return desc.extent.width * desc.channels * static_cast<std::int64_t>(size_of(desc.dtype));
  }
};

class HeaderReader {
 public:
  HeaderReader(const InputFile& file, std::int64_t at) : file_(file), bytes_(file, at), begin_(at) {}

  Header run() {
    bytes_.next();
    header_.kind = static_cast<char>(bytes_.next());
    if (header_.kind == '7')
      arbitrary_map();
    else
      plain();
    header_.raster = bytes_.at();
    describe_samples();
    check();
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(file_.path(), "damaged PNM header: " + what);
  }

  /// The next word after white space and comments.
  std::string word() {
    int c = bytes_.peek();
    while (c >= 0 && (is_space(static_cast<char>(c)) || c == '#')) {
      if (c == '#')
        while (c >= 0 && c != '\n' && c != '\r') c = advance();
      else
        c = advance();
    }
    std::string text;
    while (c >= 0 && !is_space(static_cast<char>(c)) && c != '#') {
      text += static_cast<char>(c);
      c = advance();
    }
    if (text.empty()) throw InputError(file_.path(), "truncated: the header ends too early");
    return text;
  }

  int advance() {
    if (bytes_.at() - begin_ > longest_header) fail("it is longer than 64 KiB");
    bytes_.next();
    return bytes_.peek();
  }

  std::int64_t number(const char* what, std::int64_t most) { return number_of(word(), what, most); }

  std::int64_t number_of(const std::string& text, const char* what, std::int64_t most) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
      fail(std::string(what) + " must be 1 to " + std::to_string(most) + ", not '" + text + "'");
    return value;
  }

  void plain() {
    constexpr std::int64_t longest_side = std::int64_t(1) << 40;
    header_.desc.extent = {number("width", longest_side), number("height", longest_side), 1};
    header_.desc.channels = header_.kind == '3' || header_.kind == '6' || header_.kind == 'F' ? 3 : 1;
    if (header_.is_float()) scale(word());
    if (!header_.is_float() && !header_.is_bitmap()) header_.maxval = number("maxval", 65535);
    if (const int c = bytes_.next(); c < 0 || !is_space(static_cast<char>(c))) fail("white space must follow it");
  }

  /// The sign of a PFM's scale tells the byte order.
  void scale(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0) fail("not a scale: '" + text + "'");
    header_.little = value < 0;
    if (value != 1 && value != -1) header_.notes.push_back("PFM scale " + text + " not applied");
  }

  void arbitrary_map() {
    std::string type;
    std::int64_t depth = 0;
    for (std::string key = word(); key != "ENDHDR"; key = word()) {
      if (key == "WIDTH")
        header_.desc.extent.width = number("WIDTH", std::int64_t(1) << 40);
      else if (key == "HEIGHT")
        header_.desc.extent.height = number("HEIGHT", std::int64_t(1) << 40);
      else if (key == "DEPTH")
        depth = number("DEPTH", 65535);
      else if (key == "MAXVAL")
        header_.maxval = number("MAXVAL", 65535);
      else if (key == "TUPLTYPE")
        type = word();
      else
        fail("unknown key '" + key + "'");
    }
    if (bytes_.next() != '\n') fail("ENDHDR must end its line");
    if (header_.desc.extent.width == 0 || header_.desc.extent.height == 0 || depth == 0)
      fail("WIDTH, HEIGHT and DEPTH are needed");
    header_.desc.channels = static_cast<int>(depth);
    header_.desc.alpha = type.ends_with("_ALPHA") && depth > 1;
  }

  void describe_samples() {
    ImageDesc& desc = header_.desc;
    desc.dtype = header_.is_float() ? DType::f32 : header_.maxval > 255 ? DType::u16 : DType::u8;
    if (header_.is_bitmap())
      header_.notes.push_back("bitmap read as 0 and 255");
    else if (!header_.is_float() && header_.maxval != 255 && header_.maxval != 65535)
      header_.notes.push_back("maxval " + std::to_string(header_.maxval) + ": values kept as stored");
  }

  void check() const {
    check_size(file_.path(), header_.desc);
    const std::int64_t left = file_.size() - header_.raster;
    const std::int64_t least = header_.is_text() ? header_.desc.samples() * (header_.kind == '1' ? 1 : 2) - 1
                                                 : header_.row_bytes() * header_.desc.extent.height;
    if (left < least)
      throw InputError(file_.path(),
                       "truncated: " + std::to_string(left) + " bytes cannot hold " + describe(header_.desc));
  }

  const InputFile& file_;
  Bytes bytes_;
  const std::int64_t begin_;
  Header header_;
};

/// All images of a file, and how many bytes behind them are none.
struct Contents {
  std::vector<Header> images;
  std::int64_t rest = 0;
};

bool begins_image(const InputFile& file, std::int64_t at) {
  char head[3] = {};
  file.read_some(at, std::as_writable_bytes(std::span(head)));
  return head[0] == 'P' && ((head[1] >= '1' && head[1] <= '7') || head[1] == 'F' || head[1] == 'f') &&
         (is_space(head[2]) || head[2] == '#');
}

Contents contents_of(const InputFile& file) {
  Contents contents;
  for (std::int64_t at = 0;;) {
    const Header header = HeaderReader(file, at).run();
    contents.images.push_back(header);
    if (header.is_text()) return contents;
    at = header.raster + header.row_bytes() * header.desc.extent.height;
    if (at < file.size() && begins_image(file, at)) continue;
    contents.rest = file.size() - at;
    return contents;
  }
}

FileInfo read_info(const std::string& path) {
  const InputFile file(path);
  FileInfo info;
  for (const Header& header : contents_of(file).images) {
    info.pages.push_back(header.desc);
    info.notes.insert(info.notes.end(), header.notes.begin(), header.notes.end());
  }
  info.compression = "none";
  return info;
}

/// Samples written as decimal numbers; those of a bitmap may stand together.
void read_text(const InputFile& file, const Header& header, Image& image) {
  Bytes bytes(file, header.raster);
  const auto next_value = [&]() -> std::int64_t {
    int c = bytes.next();
    while (c >= 0 && (is_space(static_cast<char>(c)) || c == '#')) {
      if (c == '#')
        while (c >= 0 && c != '\n') c = bytes.next();
      c = bytes.next();
    }
    if (c < 0) throw InputError(file.path(), "truncated: the file ends too early");
    if (!is_digit(static_cast<char>(c))) throw InputError(file.path(), "damaged: not a number among the samples");
    std::int64_t value = c - '0';
    while (header.kind != '1' && is_digit(static_cast<char>(bytes.peek())) && value <= header.maxval)
      value = value * 10 + (bytes.next() - '0');
    if (value > header.maxval)
      throw InputError(file.path(), "damaged: the sample " + std::to_string(value) + " is over the maxval " +
                                        std::to_string(header.maxval));
    return value;
  };
  for (std::int64_t i = 0; i < header.desc.samples(); ++i) {
    const std::int64_t value = header.kind == '1' ? 255 * (1 - next_value()) : next_value();
    if (header.desc.dtype == DType::u8)
      image.samples<std::uint8_t>()[i] = static_cast<std::uint8_t>(value);
    else
      image.samples<std::uint16_t>()[i] = static_cast<std::uint16_t>(value);
  }
}

void swap_bytes(std::byte* bytes, std::int64_t count, std::size_t size) {
  for (std::int64_t i = 0; i < count; ++i, bytes += size) std::reverse(bytes, bytes + size);
}

void check_values(const InputFile& file, const Header& header, const Image& image) {
  const auto over = [&](const auto* samples) {
    return std::any_of(samples, samples + header.desc.samples(), [&](auto v) { return v > header.maxval; });
  };
  const bool wrong = header.desc.dtype == DType::u8    ? header.maxval < 255 && over(image.samples<std::uint8_t>())
                     : header.desc.dtype == DType::u16 ? header.maxval < 65535 && over(image.samples<std::uint16_t>())
                                                       : false;
  if (wrong) throw InputError(file.path(), "damaged: a sample is over the maxval " + std::to_string(header.maxval));
}

void read_binary(const InputFile& file, const Header& header, Image& image) {
  const std::int64_t row = header.row_bytes(), height = header.desc.extent.height;
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t to = header.is_float() ? height - 1 - y : y;
    file.read(header.raster + y * row, {image.data() + to * row, static_cast<std::size_t>(row)});
  }
  const std::size_t size = size_of(header.desc.dtype);
  if (size > 1 && header.little != (std::endian::native == std::endian::little))
    swap_bytes(image.data(), header.desc.samples(), size);
  check_values(file, header, image);
}

/// One bit a pixel, 1 is black.
void read_bits(const InputFile& file, const Header& header, Image& image) {
  std::vector<std::byte> row(static_cast<std::size_t>(header.row_bytes()));
  auto* out = image.samples<std::uint8_t>();
  for (std::int64_t y = 0; y < header.desc.extent.height; ++y) {
    file.read(header.raster + y * header.row_bytes(), row);
    for (std::int64_t x = 0; x < header.desc.extent.width; ++x)
      *out++ = (std::to_integer<int>(row[static_cast<std::size_t>(x / 8)]) >> (7 - x % 8) & 1) ? 0 : 255;
  }
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  const InputFile file(path);
  const Contents contents = contents_of(file);
  if (count > 0 && first >= contents.images.size())
    throw InputError(path,
                     "has " + std::to_string(contents.images.size()) + " pages, not page " + std::to_string(first + 1));
  ReadResult result;
  for (std::size_t p = first; p < std::min(contents.images.size(), first + count); ++p) {
    const Header& header = contents.images[p];
    Image image(header.desc);
    header.is_text()     ? read_text(file, header, image)
    : header.kind == '4' ? read_bits(file, header, image)
                         : read_binary(file, header, image);
    result.notes.insert(result.notes.end(), header.notes.begin(), header.notes.end());
    result.pages.push_back(std::move(image));
  }
  if (contents.rest > 0)
    result.warnings.push_back(std::to_string(contents.rest) + " bytes behind the last image were ignored");
  return result;
}

bool named(const std::string& path, std::string_view suffix) {
  return path.size() > suffix.size() &&
         std::equal(suffix.begin(), suffix.end(), path.end() - static_cast<std::ptrdiff_t>(suffix.size()),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
}

std::optional<std::string> cannot_hold(const std::string& path, const ImageDesc& desc, std::size_t pages) {
  const bool pfm = named(path, ".pfm");
  if (auto reason = not_one_2d_image(pfm ? "PFM" : "PNM", desc, pages)) return reason;
  if (named(path, ".pbm")) return "bitmaps are read only: write .pgm";
  if (pfm && (desc.dtype != DType::f32 || desc.alpha || (desc.channels != 1 && desc.channels != 3)))
    return cannot_hold_samples("PFM", "float32 gray or RGB", desc, "write .tif, or add a step `convert: float32`");
  if (pfm) return std::nullopt;
  if (desc.dtype != DType::u8 && desc.dtype != DType::u16)
    return cannot_hold_samples("PNM", "uint8 or uint16", desc, "write .tif, or add a step `rescale: uint16`");
  if (named(path, ".pam")) return std::nullopt;
  const bool gray = desc.channels == 1, rgb = desc.channels == 3 && !desc.alpha;
  const bool fits = named(path, ".pgm") ? gray : named(path, ".ppm") ? rgb : gray || rgb;
  if (!fits)
    return cannot_hold_samples(named(path, ".pgm")   ? "PGM"
                               : named(path, ".ppm") ? "PPM"
                                                     : "PNM",
                               named(path, ".pgm")   ? "gray"
                               : named(path, ".ppm") ? "RGB"
                                                     : "gray or RGB",
                               desc, "write .pam, .png or .tif");
  return std::nullopt;
}

std::string header_text(const std::string& path, const ImageDesc& desc) {
  const std::string size = std::to_string(desc.extent.width) + " " + std::to_string(desc.extent.height) + "\n";
  if (desc.dtype == DType::f32)
    return (desc.channels == 3 ? "PF\n" : "Pf\n") + size +
           (std::endian::native == std::endian::little ? "-1.0\n" : "1.0\n");
  const std::string maxval = desc.dtype == DType::u8 ? "255" : "65535";
  if (!named(path, ".pam")) return (desc.channels == 3 ? "P6\n" : "P5\n") + size + maxval + "\n";
  const char* types[] = {"GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
  const bool plain = desc.channels <= 4 && desc.alpha == (desc.channels % 2 == 0);
  return "P7\nWIDTH " + std::to_string(desc.extent.width) + "\nHEIGHT " + std::to_string(desc.extent.height) +
         "\nDEPTH " + std::to_string(desc.channels) + "\nMAXVAL " + maxval + "\n" +
         (plain ? std::string("TUPLTYPE ") + types[desc.channels - 1] + "\n" : "") + "ENDHDR\n";
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions&) {
  const Image& image = the_image(path, pages, spec());
  const ImageDesc& desc = image.desc();
  OutputFile out(path);
  const std::string header = header_text(path, desc);
  out.write(header.data(), header.size());
  const std::int64_t height = desc.extent.height, row = desc.bytes() / height;
  std::vector<std::byte> bytes(static_cast<std::size_t>(row));
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t from = desc.dtype == DType::f32 ? height - 1 - y : y;
    std::memcpy(bytes.data(), image.data() + from * row, bytes.size());
    if (desc.dtype == DType::u16 && std::endian::native == std::endian::little)
      swap_bytes(bytes.data(), desc.extent.width * desc.channels, 2);
    out.write(bytes.data(), bytes.size());
  }
  out.close();
}

bool sniff(std::span<const std::byte> head) {
  if (head.size() < 3) return false;
  const auto at = [&](std::size_t i) { return std::to_integer<char>(head[i]); };
  return at(0) == 'P' && ((at(1) >= '1' && at(1) <= '7') || at(1) == 'F' || at(1) == 'f') &&
         (is_space(at(2)) || at(2) == '#');
}

}  // namespace

Format spec() {
  return {.name = "pnm",
          .summary = "PBM, PGM, PPM, PAM and PFM: uint8, uint16 and float32, any channels in PAM",
          .suffixes = {".pnm", ".pgm", ".ppm", ".pam", ".pfm", ".pbm"},
          .priority = 10,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::pnm
