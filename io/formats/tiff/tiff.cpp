#include "io/formats/tiff/tiff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "io/formats/orientation.h"
#include "io/formats/single_image.h"
#include "io/formats/tiff/open.h"

namespace imgpipe::tiff {

Image read_pixels(TiffFile& file, const Page& page, std::size_t number);
void write(const std::string& path, std::span<const Image> pages, const WriteOptions& options);

namespace {

bool sniff(std::span<const std::byte> head) {
  if (head.size() < 4) return false;
  const auto* b = reinterpret_cast<const unsigned char*>(head.data());
  return (b[0] == 'I' && b[1] == 'I' && (b[2] == 42 || b[2] == 43) && b[3] == 0) ||
         (b[0] == 'M' && b[1] == 'M' && b[2] == 0 && (b[3] == 42 || b[3] == 43));
}

/// Thumbnails and masks are not pages.
bool is_page(TIFF* t) {
  std::uint32_t kind = 0;
  TIFFGetField(t, TIFFTAG_SUBFILETYPE, &kind);
  return (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0;
}

std::string compression_name(std::uint16_t compression) {
  const TIFFCodec* codec = TIFFFindCODEC(compression);
  return compression == COMPRESSION_NONE ? "none" : codec ? codec->name : std::to_string(compression);
}

void finish_desc(Page& page, const Description& description) {
  page.desc.geometry = description.geometry;
  orient(page.desc, page.orientation);
}

/// libtiff takes a link that lies behind the end of the file for the end of the pages.
void check_link_is_there(TIFF* t, const InputFile& file) {
  const bool big_tiff = TIFFIsBigTIFF(t), big_endian = TIFFIsBigEndian(t);
  const auto at = static_cast<std::int64_t>(TIFFCurrentDirOffset(t));
  std::array<std::byte, 8> head{};
  const std::size_t size = big_tiff ? 8 : 2;
  file.read(at, std::span(head).first(size));
  std::uint64_t entries = 0;
  for (std::size_t i = 0; i < size; ++i)
    entries = entries << 8 | static_cast<std::uint64_t>(head[big_endian ? i : size - 1 - i]);
  const std::int64_t entry_bytes = big_tiff ? 20 : 12, link_bytes = big_tiff ? 8 : 4;
  const std::int64_t left = file.size() - at - static_cast<std::int64_t>(size) - link_bytes;
  if (left < 0 || entries > static_cast<std::uint64_t>(left / entry_bytes))
    throw InputError(file.path(), "truncated: the file ends within a page's tags");
}

/// Calls f(page, description, number) for every page; f returns whether to go on.
template <class F>
void for_pages(TiffFile& file, F&& f) {
  const InputFile bytes(file.path());
  std::size_t number = 0;
  Description description;
  do {
    check_link_is_there(file.get(), bytes);
    if (!is_page(file.get())) continue;
    Page page = read_page_tags(file, ++number);
    if (number == 1) description = read_description(file.get());
    if (!f(page, description, number)) return;
    if (number > 1000000) throw InputError(file.path(), "has more than a million pages");
  } while (TIFFReadDirectory(file.get()));
  if (!file.messages().error.empty()) file.fail(fmt::format("page {} cannot be read", number + 1));
  if (number == 0) throw InputError(file.path(), "holds no image");
}

std::int64_t stored_bytes(const Page& p) {
  return static_cast<std::int64_t>(p.width) * p.height * p.samples * p.bits / 8;
}

/// ImageJ writes large stacks with one directory: the slices follow each other in the file, as they are in memory.
bool slices_follow(const Page& p, const Description& description, std::size_t pages) {
  const bool as_in_memory = p.compression == COMPRESSION_NONE && !p.tiled && !p.inverted && !p.associated &&
                            p.orientation <= 1 && (p.samples == 1 || p.planar == PLANARCONFIG_CONTIG) &&
                            p.desc.bytes() == stored_bytes(p);
  return pages == 1 && description.images > 1 && as_in_memory;
}

void check_slices_are_there(TiffFile& file, const Page& p, std::size_t slices) {
  std::error_code error;
  const auto size = static_cast<double>(std::filesystem::file_size(file.path(), error));
  if (static_cast<double>(stored_bytes(p)) * static_cast<double>(slices) > size)
    throw InputError(file.path(), fmt::format("truncated: its description says {} slices, more than it holds", slices));
}

FileInfo read_info(const std::string& path) {
  TiffFile file(path, "rm");
  FileInfo info;
  Page first;
  Description description;
  for_pages(file, [&](Page& page, const Description& d, std::size_t number) {
    finish_desc(page, d);
    if (number == 1) {
      first = page;
      description = d;
      info.compression = compression_name(page.compression);
      info.notes = page.notes;
      info.notes.insert(info.notes.end(), d.notes.begin(), d.notes.end());
      info.declares_volume = d.volume;
    }
    info.pages.push_back(page.desc);
    return true;
  });
  if (slices_follow(first, description, info.pages.size())) {
    check_slices_are_there(file, first, description.images);
    info.pages.assign(description.images, first.desc);
  }
  if (info.pages.size() == 1) info.declares_volume = false;
  return info;
}

/// Slices [first, last) of a stack with one directory.
void read_following(TiffFile& file, const Page& page, std::size_t first, std::size_t last, ReadResult& result) {
  std::uint64_t* offsets = nullptr;
  if (!TIFFGetField(file.get(), TIFFTAG_STRIPOFFSETS, &offsets)) file.fail("has no strips");
  const std::int64_t bytes = stored_bytes(page), size = page.bits / 8;
  const InputFile raw(file.path());
  for (std::size_t k = first; k < last; ++k) {
    Image slice(page.desc);
    raw.read(static_cast<std::int64_t>(offsets[0]) + static_cast<std::int64_t>(k) * bytes,
             {slice.data(), static_cast<std::size_t>(bytes)});
    if (TIFFIsByteSwapped(file.get()) && size > 1)
      for (std::int64_t i = 0; i < bytes; i += size) std::reverse(slice.data() + i, slice.data() + i + size);
    result.pages.push_back(std::move(slice));
  }
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  ReadResult result;
  if (count == 0) return result;
  TiffFile file(path, "rm");
  std::size_t pages = 0;
  Page page_1;
  Description description;
  for_pages(file, [&](Page& page, const Description& d, std::size_t number) {
    pages = number;
    if (number == 1) {
      page_1 = page;
      description = d;
      result.warnings = d.warnings;
    }
    if (number <= first) return true;
    Image image = read_pixels(file, page, number);
    image.desc().geometry = d.geometry;
    if (result.pages.empty()) result.notes = page.notes;
    result.pages.push_back(apply_orientation(std::move(image), page.orientation));
    return result.pages.size() < count;
  });
  if (result.pages.size() < count && slices_follow(page_1, description, pages)) {
    check_slices_are_there(file, page_1, description.images);
    finish_desc(page_1, description);
    pages = description.images;
    read_following(file, page_1, std::max<std::size_t>(first, 1),
                   first + std::min(count, pages - std::min(first, pages)), result);
  }
  if (result.pages.empty()) throw InputError(path, fmt::format("has {} pages, not page {}", pages, first + 1));
  return result;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t) {
  if (desc.channels > 65535 || desc.extent.width > 0xffffffffll || desc.extent.height > 0xffffffffll)
    return "TIFF holds at most 65535 channels and 2^32 - 1 pixels a side";
  return std::nullopt;
}

}  // namespace

Format spec() {
  Format format;
  format.name = "tiff";
  format.summary = "TIFF and BigTIFF, also stacks of ImageJ and OME";
  format.suffixes = {".tif", ".tiff"};
  format.priority = 10;
  format.sniff = sniff;
  format.read_info = read_info;
  format.read = read;
  format.cannot_hold = cannot_hold;
  format.write = write;
  return format;
}

}  // namespace imgpipe::tiff
