#include "io/formats/pfm/pfm.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "io/formats/netpbm.h"

namespace imgpipe::pfm {
namespace {

struct Header {
  ImageDesc desc;
  double scale = 1;  ///< negative: little-endian
  std::int64_t offset = 0;
};

double number(const InputFile& file, const std::string& word) {
  double value = 0;
  const char* begin = word.data() + (word[0] == '+' ? 1 : 0);
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value) || value == 0)
    throw InputError(file.path(), "damaged header: the scale is not a number other than 0");
  return value;
}

Header read_header(const InputFile& file) {
  netpbm::Text text(file, 1);
  Header header;
  header.desc.dtype = DType::f32;
  header.desc.channels = text.next() == 'F' ? 3 : 1;
  header.desc.extent.width = text.number("width");
  header.desc.extent.height = text.number("height");
  header.scale = number(file, text.word());
  header.offset = text.offset();
  check_size(file.path(), header.desc);
  if (file.size() - header.offset < header.desc.bytes())
    throw InputError(file.path(), "truncated: the header says " + describe(header.desc) + ", the file ends before");
  return header;
}

std::vector<std::string> notes_of(const Header& header) {
  if (std::abs(header.scale) == 1) return {};
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, std::abs(header.scale)).ptr;
  return {"scale " + std::string(text, end) + ": samples are kept as stored"};
}

FileInfo read_info(const std::string& path) {
  const InputFile file(path);
  const Header header = read_header(file);
  return {{header.desc}, false, "none", notes_of(header)};
}

std::int64_t row_bytes(const ImageDesc& desc) { return desc.bytes() / desc.extent.height; }

void swap_bytes(std::byte* samples, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 4) std::reverse(samples + i, samples + i + 4);
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  if (!wants_the_page(path, first, count)) return {};
  const InputFile file(path);
  const Header header = read_header(file);
  Image image(header.desc);
  const std::int64_t row = row_bytes(header.desc), height = header.desc.extent.height;
  for (std::int64_t y = 0; y < height; ++y)
    file.read(header.offset + (height - 1 - y) * row, {image.data() + y * row, static_cast<std::size_t>(row)});
  const bool little = header.scale < 0;
  if (little != (std::endian::native == std::endian::little)) swap_bytes(image.data(), header.desc.bytes());
  ReadResult result;
  result.notes = notes_of(header);
  const std::int64_t behind = file.size() - header.offset - header.desc.bytes();
  if (behind > 0) result.warnings.push_back(netpbm::trailing_bytes(behind));
  result.pages.push_back(std::move(image));
  return result;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t pages) {
  if (auto reason = not_one_2d_image("PFM", desc, pages)) return reason;
  const char* holds = "float32 gray or RGB";
  if (desc.dtype != DType::f32)
    return cannot_hold_samples("PFM", holds, desc, "write .tif, or add a step `convert: float32`");
  if (desc.alpha || (desc.channels != 1 && desc.channels != 3))
    return cannot_hold_samples("PFM", holds, desc, "write .tif or .npy");
  return std::nullopt;
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions&) {
  const Image& image = the_image(path, pages, spec());
  const ImageDesc& desc = image.desc();
  const char* byte_order = std::endian::native == std::endian::little ? "-1.0" : "1.0";
  const std::string header = std::string(desc.channels == 3 ? "PF" : "Pf") + "\n" + std::to_string(desc.extent.width) +
                             " " + std::to_string(desc.extent.height) + "\n" + byte_order + "\n";
  OutputFile out(path);
  out.write(header.data(), header.size());
  const std::int64_t row = row_bytes(desc);
  for (std::int64_t y = desc.extent.height - 1; y >= 0; --y)
    out.write(image.data() + y * row, static_cast<std::size_t>(row));
  out.close();
}

bool sniff(std::span<const std::byte> head) {
  if (head.size() < 3 || head[0] != std::byte{'P'}) return false;
  return (head[1] == std::byte{'F'} || head[1] == std::byte{'f'}) && netpbm::is_space(static_cast<char>(head[2]));
}

}  // namespace

Format spec() {
  return {.name = "pfm",
          .summary = "PFM: float32 gray or RGB; not compressed",
          .suffixes = {".pfm"},
          .priority = 10,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::pfm
