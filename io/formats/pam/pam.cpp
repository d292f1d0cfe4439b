#include "io/formats/pam/pam.h"

#include <cstring>

#include "io/formats/netpbm.h"

namespace imgpipe::pam {
namespace {

constexpr std::int64_t most_channels = 65535;

struct TupleType {
  const char* name;
  int channels;
  bool alpha, bitmap;
};
constexpr TupleType tuple_types[] = {{"BLACKANDWHITE", 1, false, true}, {"BLACKANDWHITE_ALPHA", 2, true, true},
                                     {"GRAYSCALE", 1, false, false},    {"GRAYSCALE_ALPHA", 2, true, false},
                                     {"RGB", 3, false, false},          {"RGB_ALPHA", 4, true, false}};

const TupleType* tuple_type_named(const std::string& name) {
  for (const TupleType& type : tuple_types)
    if (name == type.name) return &type;
  return nullptr;
}

const TupleType* tuple_type_of(const ImageDesc& desc) {
  for (const TupleType& type : tuple_types)
    if (!type.bitmap && type.channels == desc.channels && type.alpha == desc.alpha) return &type;
  return nullptr;
}

struct Header {
  ImageDesc desc;
  bool bitmap = false;
  std::int64_t maxval = 0;
  std::int64_t offset = 0;
};

/// The lines of the header as they are: a number that is missing stays 0, which no file may have.
struct Fields {
  std::int64_t width = 0, height = 0, depth = 0, maxval = 0, offset = 0;
  std::string tuple_type;
};

void split(const std::string& line, std::string& key, std::string& value) {
  const char* blanks = " \t\r\v\f";
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string::npos) return;
  const std::size_t end = line.find_first_of(blanks, begin);
  key = line.substr(begin, end == std::string::npos ? end : end - begin);
  const std::size_t from = line.find_first_not_of(blanks, end);
  if (end == std::string::npos || from == std::string::npos) return;
  value = line.substr(from, line.find_last_not_of(blanks) + 1 - from);
}

Fields read_fields(const InputFile& file) {
  netpbm::Text text(file, 2);
  Fields fields;
  if (text.line().find_first_not_of(" \t\r") != std::string::npos)
    throw InputError(file.path(), "begins as a thumbnail of XV (P7 332), which cannot be read");
  for (;;) {
    std::string key, value;
    split(text.line(), key, value);
    if (key.empty() || key[0] == '#') continue;
    if (key == "ENDHDR") break;
    const auto number = [&](const char* what) { return netpbm::whole_number(file, value, what); };
    if (key == "WIDTH")
      fields.width = number("WIDTH");
    else if (key == "HEIGHT")
      fields.height = number("HEIGHT");
    else if (key == "DEPTH")
      fields.depth = number("DEPTH");
    else if (key == "MAXVAL")
      fields.maxval = number("MAXVAL");
    else if (key == "TUPLTYPE")  // further lines continue it
      fields.tuple_type += (fields.tuple_type.empty() ? "" : " ") + value;
    else
      throw InputError(file.path(), "damaged header: unknown line " + key.substr(0, 40));
  }
  fields.offset = text.offset();
  return fields;
}

Header read_header(const InputFile& file) {
  const Fields fields = read_fields(file);
  const TupleType* type = tuple_type_named(fields.tuple_type);
  if (fields.depth < 1 || fields.depth > most_channels)
    throw InputError(file.path(), "damaged header: DEPTH is not in 1..65535");
  if (type && type->channels != fields.depth)
    throw InputError(file.path(),
                     std::string("damaged header: ") + type->name + " with DEPTH " + std::to_string(fields.depth));
  Header header{.maxval = fields.maxval, .offset = fields.offset};
  header.desc.dtype = netpbm::dtype_for(file, fields.maxval);
  header.desc.extent = {fields.width, fields.height, 1};
  header.desc.channels = static_cast<int>(fields.depth);
  header.desc.alpha = type && type->alpha;
  header.bitmap = type && type->bitmap;
  if (header.bitmap && fields.maxval != 1)
    throw InputError(file.path(),
                     std::string("damaged header: ") + type->name + " with MAXVAL " + std::to_string(fields.maxval));
  check_size(file.path(), header.desc);
  if (file.size() - header.offset < header.desc.bytes())
    throw InputError(file.path(), "truncated: the header says " + describe(header.desc) + ", the file ends before");
  return header;
}

std::vector<std::string> notes_of(const Header& header) {
  if (header.bitmap) return {"bitmap read as uint8: black is 0, white is 255"};
  return netpbm::maxval_notes(header.desc, header.maxval);
}

FileInfo read_info(const std::string& path) {
  const InputFile file(path);
  const Header header = read_header(file);
  return {{header.desc}, false, "none", notes_of(header)};
}

void stretch_bits(Image& image) {
  auto* samples = image.samples<std::uint8_t>();
  for (std::int64_t i = 0; i < image.desc().samples(); ++i) samples[i] = samples[i] == 0 ? 0 : 255;
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  if (!wants_the_page(path, first, count)) return {};
  const InputFile file(path);
  const Header header = read_header(file);
  Image image(header.desc);
  netpbm::read_raw(file, header.offset, image);
  netpbm::check_samples(file, image, header.maxval);
  if (header.bitmap) stretch_bits(image);
  ReadResult result;
  result.notes = notes_of(header);
  const std::int64_t behind = file.size() - header.offset - header.desc.bytes();
  if (behind > 0) result.warnings.push_back(netpbm::trailing_bytes(behind));
  result.pages.push_back(std::move(image));
  return result;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t pages) {
  if (auto reason = not_one_2d_image("PAM", desc, pages)) return reason;
  const char* holds = "uint8 or uint16 gray, RGB and other channels";
  if (desc.dtype != DType::u8 && desc.dtype != DType::u16)
    return cannot_hold_samples("PAM", holds, desc, "write .tif, or add a step `rescale: uint16`");
  if (desc.alpha && !tuple_type_of(desc)) return "PAM holds alpha only with gray or RGB: write .tif";
  if (desc.channels > most_channels) return "PAM holds at most 65535 channels: write .npy";
  return std::nullopt;
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions&) {
  const Image& image = the_image(path, pages, spec());
  const ImageDesc& desc = image.desc();
  const TupleType* type = tuple_type_of(desc);
  const std::string header = "P7\nWIDTH " + std::to_string(desc.extent.width) + "\nHEIGHT " +
                             std::to_string(desc.extent.height) + "\nDEPTH " + std::to_string(desc.channels) +
                             "\nMAXVAL " + (desc.dtype == DType::u8 ? "255" : "65535") +
                             (type ? std::string("\nTUPLTYPE ") + type->name : "") + "\nENDHDR\n";
  OutputFile out(path);
  out.write(header.data(), header.size());
  netpbm::write_raw(out, image);
  out.close();
}

bool sniff(std::span<const std::byte> head) {
  return head.size() >= 3 && std::memcmp(head.data(), "P7", 2) == 0 && netpbm::is_space(static_cast<char>(head[2]));
}

}  // namespace

Format spec() {
  return {.name = "pam",
          .summary = "PAM: uint8 and uint16, gray, RGB or any channels, with or without alpha; not compressed",
          .suffixes = {".pam"},
          .priority = 10,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::pam
