#include "io/formats/bmp/header.h"

#include <algorithm>
#include <bit>

namespace imgpipe::bmp {
namespace {

constexpr std::int64_t core_bytes = 12, info_bytes = 40, info_2_bytes = 64, with_masks_bytes = 52,
                       with_alpha_mask_bytes = 56, v4_bytes = 108, v5_bytes = 124;
constexpr std::uint32_t embedded_profile = 0x4d424544, linked_profile = 0x4c494e4b;
constexpr std::int64_t run_length_best_ratio = 128;

/// Little-endian numbers of the header; 0 behind its end.
class Fields {
 public:
  explicit Fields(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::uint32_t u32(std::size_t at) const { return number(at, 4); }
  std::int64_t i32(std::size_t at) const { return static_cast<std::int32_t>(number(at, 4)); }
  int u16(std::size_t at) const { return static_cast<int>(number(at, 2)); }

 private:
  std::uint32_t number(std::size_t at, std::size_t size) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size && at + i < bytes_.size(); ++i)
      value |= static_cast<std::uint32_t>(bytes_[at + i]) << 8 * i;
    return value;
  }
  std::vector<std::byte> bytes_;
};

bool known_size(std::int64_t bytes) {
  const std::int64_t known[] = {core_bytes,   info_bytes, with_masks_bytes, with_alpha_mask_bytes,
                                info_2_bytes, v4_bytes,   v5_bytes};
  return std::ranges::find(known, bytes) != std::end(known);
}

[[noreturn]] void damaged(const InputFile& file, const std::string& what) {
  throw InputError(file.path(), "damaged header: " + what);
}

void set_core_fields(Header& header, const Fields& fields) {
  header.desc.extent = {fields.u16(4), fields.u16(6), 1};
  header.bits = fields.u16(10);
}

void set_info_fields(Header& header, const Fields& fields) {
  const std::int64_t height = fields.i32(8);
  header.top_down = height < 0;
  header.desc.extent = {fields.i32(4), height < 0 ? -height : height, 1};
  header.bits = fields.u16(14);
  header.compression = static_cast<Compression>(fields.u32(16));
  const std::int64_t x = fields.i32(24), y = fields.i32(28);  // pixels a metre
  if (x <= 0 || y <= 0) return;
  header.desc.geometry.spacing = {1000.0 / static_cast<double>(x), 1000.0 / static_cast<double>(y), 1};
  header.desc.geometry.unit = "mm";
}

void check_compression(const InputFile& file, const Header& header, std::int64_t header_bytes) {
  const auto number = static_cast<std::uint32_t>(header.compression);
  if (header_bytes == info_2_bytes && number > 2) damaged(file, "compressions of OS/2 other than RLE cannot be read");
  if (number == 4 || number == 5) damaged(file, "BMP files that wrap a JPEG or PNG cannot be read");
  const auto fits = [&] {
    switch (header.compression) {
      case Compression::none:
        return header.bits == 1 || header.bits == 2 || header.bits == 4 || header.bits == 8 || header.bits == 16 ||
               header.bits == 24 || header.bits == 32;
      case Compression::rle8:
        return header.bits == 8 && !header.top_down;
      case Compression::rle4:
        return header.bits == 4 && !header.top_down;
      case Compression::masks:
      case Compression::masks_with_alpha:
        return header.bits == 16 || header.bits == 32;
    }
    return false;
  };
  if (!fits()) damaged(file, std::to_string(header.bits) + " bits a pixel with compression " + std::to_string(number));
}

bool has_masks(const Header& header) {
  return header.compression == Compression::masks || header.compression == Compression::masks_with_alpha;
}

/// The masks stand in the header, or behind one that is too short for them; returns how many bytes they take there.
std::int64_t read_masks(const InputFile& file, Header& header, const Fields& fields, std::int64_t header_bytes) {
  std::array<std::uint32_t, 4> bits = {0xff0000, 0xff00, 0xff, 0};
  if (header.bits == 16) bits = {0x7c00, 0x3e0, 0x1f, 0};
  std::int64_t behind = 0;
  if (has_masks(header) && header_bytes < with_masks_bytes) {
    behind = header.compression == Compression::masks ? 12 : 16;
    const Fields outside(file.bytes(file_header_bytes + header_bytes, behind));
    for (std::size_t i = 0; i < 4; ++i) bits[i] = outside.u32(4 * i);
  } else if (has_masks(header)) {
    for (std::size_t i = 0; i < 3; ++i) bits[i] = fields.u32(40 + 4 * i);
  }
  if (header_bytes >= with_alpha_mask_bytes && header_bytes != info_2_bytes) bits[3] = fields.u32(52);
  for (std::size_t i = 0; i < 4; ++i) {
    if (header.bits == 16) bits[i] &= 0xffff;
    header.masks[i] = Mask(file.path(), bits[i]);
  }
  if ((bits[0] | bits[1] | bits[2]) == 0) damaged(file, "its colours have no bits");
  return behind;
}

bool all_gray(const std::vector<std::array<std::uint8_t, 3>>& palette) {
  return std::ranges::all_of(palette, [](const auto& c) { return c[0] == c[1] && c[1] == c[2]; });
}

bool is_ramp(const std::vector<std::array<std::uint8_t, 3>>& palette) {
  for (std::size_t i = 0; i < palette.size(); ++i)
    if (palette[i] !=
        std::array{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i)})
      return false;
  return true;
}

void read_palette(const InputFile& file, Header& header, std::int64_t at, std::int64_t entries, std::int64_t bytes) {
  const std::int64_t most = std::int64_t{1} << header.bits;
  if (entries == 0 || entries > most) entries = most;
  entries = std::min(entries, (header.offset - at) / bytes);  // some writers leave out the unused ones
  if (entries < 1) damaged(file, "it has no palette");
  const std::vector<std::byte> stored = file.bytes(at, entries * bytes);
  for (std::size_t i = 0; i < stored.size(); i += static_cast<std::size_t>(bytes))
    header.palette.push_back({static_cast<std::uint8_t>(stored[i + 2]), static_cast<std::uint8_t>(stored[i + 1]),
                              static_cast<std::uint8_t>(stored[i])});
  const bool gray = all_gray(header.palette);
  header.desc.channels = gray ? 1 : 3;
  if (!gray) header.notes.push_back("palette expanded to RGB");
  if (gray && !is_ramp(header.palette)) header.notes.push_back("palette of grays expanded to gray");
}

void set_channels_of_masks(Header& header) {
  header.desc.alpha = header.masks[3].width() > 0;
  header.desc.channels = header.desc.alpha ? 4 : 3;
  if (header.bits == 32 && header.compression == Compression::none && !header.desc.alpha)
    header.notes.push_back("the fourth byte of a pixel is not declared as alpha: ignored");
  for (const Mask& mask : header.masks)
    if (mask.width() != 8 && mask.width() != 0) {
      header.notes.push_back("samples of other than 8 bits scaled to uint8");
      return;
    }
}

void check_pixels_are_there(const InputFile& file, const Header& header) {
  check_size(file.path(), header.desc);
  const std::int64_t stored = file.size() - header.offset;
  if (header.run_lengths())
    check_ratio(file.path(), stored, header.desc.extent.pixels(), run_length_best_ratio);
  else if (stored < header.stride() * header.desc.extent.height)
    throw InputError(file.path(), "truncated: the header says " + describe(header.desc) + ", the file ends before");
}

}  // namespace

Mask::Mask(const std::string& path, std::uint32_t bits) : bits_(bits) {
  if (bits == 0) return;
  shift_ = std::countr_zero(bits);
  width_ = std::popcount(bits);
  largest_ = bits >> shift_;
  if ((largest_ & (largest_ + 1)) != 0) throw InputError(path, "damaged header: a mask has gaps");
}

Header read_header(const InputFile& file) {
  const Fields begin(file.bytes(0, file_header_bytes + 4));
  const std::int64_t header_bytes = begin.u32(file_header_bytes);
  if (!known_size(header_bytes)) damaged(file, "its size is " + std::to_string(header_bytes) + " bytes");
  const Fields fields(file.bytes(file_header_bytes, header_bytes));
  Header header;
  header.offset = begin.u32(10);
  if (header_bytes == core_bytes)
    set_core_fields(header, fields);
  else
    set_info_fields(header, fields);
  check_compression(file, header, header_bytes);
  std::int64_t end = file_header_bytes + header_bytes;
  if (header.bits == 16 || header.bits == 32) {
    end += read_masks(file, header, fields, header_bytes);
    set_channels_of_masks(header);
  } else if (header.bits == 24) {
    header.desc.channels = 3;
  }
  if (header.offset < end || header.offset > file.size())
    throw InputError(file.path(), "truncated or damaged: the pixels begin outside the file");
  const std::uint32_t space = header_bytes == v5_bytes ? fields.u32(56) : 0;
  header.profile = space == embedded_profile || space == linked_profile;
  if (header.profile) header.notes.push_back(profile_dropped);
  const std::int64_t colours = header_bytes == core_bytes ? 0 : fields.u32(32);
  if (header.bits <= 8) read_palette(file, header, end, colours, header_bytes == core_bytes ? 3 : 4);
  check_pixels_are_there(file, header);
  return header;
}

}  // namespace imgpipe::bmp
