#include "io/formats/npy/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

namespace imgpipe::npy {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode), std::fclose);
  if (!file) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
  return file;
}

/// The header's dictionary, which is a Python literal of a fixed form.
struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::int64_t data_offset = 0;
};

class Literal {
 public:
  Literal(const std::string& path, std::string text) : path_(path), text_(std::move(text)) {}

  Header read() {
    Header header;
    bool seen[3] = {false, false, false};
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        header.descr = peek() == '[' ? refuse("structured arrays are not images") : quoted();
      else if (key == "fortran_order")
        header.fortran = boolean();
      else if (key == "shape")
        header.shape = tuple();
      else
        refuse("unknown header key '" + key + "'");
      seen[key == "descr" ? 0 : key == "shape" ? 1 : 2] = true;
      if (!accept(',') && peek() != '}') refuse("malformed header");
    }
    if (!seen[0] || !seen[1] || !seen[2]) refuse("the header lacks descr, shape or fortran_order");
    return header;
  }

 private:
  [[noreturn]] std::string refuse(const std::string& why) const { throw InputError(path_, why); }
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse("malformed header");
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse("malformed header");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) refuse("malformed header");
    std::string word = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return word;
  }
  bool boolean() {
    peek();
    if (text_.compare(at_, 4, "True") == 0) return at_ += 4, true;
    if (text_.compare(at_, 5, "False") == 0) return at_ += 5, false;
    refuse("malformed header");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      peek();
      std::size_t digits = 0;
      while (at_ + digits < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + digits]))) ++digits;
      if (digits == 0 || digits > 15) refuse("malformed shape");
      values.push_back(std::stoll(text_.substr(at_, digits)));
      at_ += digits;
      if (!accept(',') && peek() != ')') refuse("malformed shape");
    }
    return values;
  }

  const std::string& path_;
  std::string text_;
  std::size_t at_ = 0;
};

Header read_header(const std::string& path, std::FILE* file) {
  unsigned char start[12];
  if (std::fread(start, 1, 10, file) != 10) throw InputError(path, "truncated header");
  std::size_t length = start[8] | start[9] << 8, offset = 10;
  if (start[6] >= 2) {
    if (std::fread(start + 10, 1, 2, file) != 2) throw InputError(path, "truncated header");
    length |= static_cast<std::size_t>(start[10]) << 16 | static_cast<std::size_t>(start[11]) << 24;
    offset = 12;
  }
  if (start[6] < 1 || start[6] > 3)
    throw InputError(path, "version " + std::to_string(start[6]) + " of the npy format is not known");
  if (length > 65536) throw InputError(path, "the header is implausibly long");
  std::string text(length, '\0');
  if (std::fread(text.data(), 1, length, file) != length) throw InputError(path, "truncated header");
  Header header = Literal(path, std::move(text)).read();
  header.data_offset = static_cast<std::int64_t>(offset + length);
  return header;
}

/// What is stored, and what it is read as.
struct Stored {
  DType dtype;
  std::size_t size;
  bool swapped, boolean, half;
};

Stored stored_type(const std::string& path, const std::string& descr) {
  if (descr.size() < 3) throw InputError(path, "dtype '" + descr + "' is not known");
  const char order = descr[0];
  const std::string type = descr.substr(1);
  constexpr std::pair<const char*, DType> types[] = {{"u1", DType::u8},  {"i1", DType::i8},  {"u2", DType::u16},
                                                     {"i2", DType::i16}, {"u4", DType::u32}, {"i4", DType::i32},
                                                     {"f4", DType::f32}, {"f8", DType::f64}};
  const bool big = order == '>', swapped = big != (std::endian::native == std::endian::big) && order != '|';
  for (const auto& [name, dtype] : types)
    if (type == name) return {dtype, size_of(dtype), swapped, false, false};
  if (type == "b1") return {DType::u8, 1, false, true, false};
  if (type == "f2") return {DType::f32, 2, swapped, false, true};
  const std::string words = type == "i8"     ? "int64"
                            : type == "u8"   ? "uint64"
                            : type[0] == 'c' ? "complex numbers"
                                             : "dtype '" + descr + "'";
  throw InputError(path, words + " cannot be processed: convert to int32, uint32 or float64");
}

ImageDesc desc_of(const std::string& path, const Header& header, const Stored& stored) {
  ImageDesc desc;
  desc.dtype = stored.dtype;
  const auto& s = header.shape;
  if (s.empty() || s.size() > 4)
    throw InputError(path, fmt::format("has {} axes; images have 1 to 4 (z, y, x, channel)", s.size()));
  desc.extent.width = s.size() >= 3 ? s[2] : s.back();
  desc.extent.height = s.size() == 1 ? 1 : s.size() == 2 ? s[0] : s[1];
  desc.extent.depth = s.size() >= 3 ? s[0] : 1;
  if (s.size() == 4) {
    if (s[3] > 1024) throw InputError(path, "has more than 1024 channels");
    desc.channels = static_cast<int>(s[3]);
  }
  desc.volume = s.size() == 3 || (s.size() == 4 && s[0] > 1);
  std::int64_t samples = 1;
  for (std::int64_t n : s) {
    if (n < 1) throw InputError(path, "is an empty array");
    if (samples > (std::int64_t(1) << 40) / n) throw InputError(path, "is larger than 2^40 samples");
    samples *= n;
  }
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path)) - header.data_offset;
  if (bytes != samples * static_cast<std::int64_t>(stored.size))
    throw InputError(path, fmt::format("holds {} bytes of data, its header announces {}", bytes,
                                       samples * static_cast<std::int64_t>(stored.size)));
  return desc;
}

float from_half(std::uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const float sign = h >> 15 ? -1.0f : 1.0f;
  if (exponent == 31)
    return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                               : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25));
}

void swap_bytes(std::byte* data, std::int64_t count, std::size_t size) {
  for (std::int64_t i = 0; i < count; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

/// From Fortran order (first axis fastest) to C order.
std::vector<std::byte> to_c_order(const std::vector<std::byte>& data, const std::vector<std::int64_t>& shape,
                                  std::size_t size) {
  std::vector<std::byte> result(data.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  std::vector<std::int64_t> stride(shape.size(), 1);
  for (std::size_t a = 1; a < shape.size(); ++a) stride[a] = stride[a - 1] * shape[a - 1];
  const std::int64_t count = static_cast<std::int64_t>(data.size() / size);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t from = 0;
    for (std::size_t a = 0; a < shape.size(); ++a) from += index[a] * stride[a];
    std::memcpy(&result[i * size], &data[from * size], size);
    for (std::size_t a = shape.size(); a-- > 0;) {
      if (++index[a] < shape[a]) break;
      index[a] = 0;
    }
  }
  return result;
}

std::vector<std::string> notes_of(const Stored& stored) {
  if (stored.boolean) return {"booleans read as uint8 0 and 1"};
  if (stored.half) return {"float16 read as float32"};
  return {};
}

FileInfo read_info(const std::string& path) {
  const File file = open_file(path, "rb");
  const Header header = read_header(path, file.get());
  const Stored stored = stored_type(path, header.descr);
  const ImageDesc desc = desc_of(path, header, stored);
  return {{desc}, desc.volume, "none", notes_of(stored)};
}

ReadResult read(const std::string& path, std::size_t, std::size_t) {
  const File file = open_file(path, "rb");
  const Header header = read_header(path, file.get());
  const Stored stored = stored_type(path, header.descr);
  Image image(desc_of(path, header, stored));
  const std::int64_t count = image.desc().samples();
  std::vector<std::byte> data(static_cast<std::size_t>(count) * stored.size);
  if (std::fread(data.data(), 1, data.size(), file.get()) != data.size()) throw InputError(path, "is truncated");
  if (stored.swapped) swap_bytes(data.data(), count, stored.size);
  if (header.fortran) data = to_c_order(data, header.shape, stored.size);
  if (stored.half)
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint16_t h;
      std::memcpy(&h, &data[2 * i], 2);
      image.samples<float>()[i] = from_half(h);
    }
  else
    std::memcpy(image.data(), data.data(), data.size());
  ReadResult result;
  result.notes = notes_of(stored);
  result.pages.push_back(std::move(image));
  return result;
}

std::string descr_of(DType type) {
  constexpr const char* names[] = {"|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<f4", "<f8"};
  return names[static_cast<int>(type)];
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc&, std::size_t pages) {
  if (pages > 1)
    return fmt::format("npy holds one array, not {} pages: write .tif, or take the pages as a volume (volume: stack)",
                       pages);
  return std::nullopt;
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions&) {
  const Image& image = pages[0];
  const ImageDesc& d = image.desc();
  std::string shape = fmt::format("{}, {}", d.extent.height, d.extent.width);
  if (d.volume || d.channels > 1 || d.extent.depth > 1) shape = fmt::format("{}, {}", d.extent.depth, shape);
  if (d.channels > 1) shape += fmt::format(", {}", d.channels);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr_of(d.dtype), shape);
  header.append((64 - (header.size() + 11) % 64) % 64, ' ');
  header += '\n';
  const File file = open_file(path, "wb");
  const unsigned char start[10] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   static_cast<unsigned char>(header.size() & 255),
                                   static_cast<unsigned char>(header.size() >> 8)};
  const auto bytes = static_cast<std::size_t>(d.bytes());
  const bool written = std::fwrite(start, 1, 10, file.get()) == 10 &&
                       std::fwrite(header.data(), 1, header.size(), file.get()) == header.size() &&
                       std::fwrite(image.data(), 1, bytes, file.get()) == bytes && std::fflush(file.get()) == 0;
  if (!written) throw InputError(path, std::string("cannot be written: ") + std::strerror(errno));
}

}  // namespace

Format spec() {
  Format format;
  format.name = "npy";
  format.summary = "NumPy array";
  format.suffixes = {".npy"};
  format.priority = 10;
  format.sniff = [](std::span<const std::byte> head) {
    return head.size() >= 6 && std::memcmp(head.data(), "\x93NUMPY", 6) == 0;
  };
  format.read_info = read_info;
  format.read = read;
  format.cannot_hold = cannot_hold;
  format.write = write;
  return format;
}

}  // namespace imgpipe::npy
