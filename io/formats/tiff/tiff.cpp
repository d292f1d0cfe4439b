#include "io/formats/tiff/tiff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/formats/orientation.h"
#include "io/formats/single_image.h"
#include "io/formats/tiff/open.h"

namespace imgpipe::tiff {

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

std::uint64_t page_bytes(const Page& page) {
  return std::uint64_t(page.width) * page.height * page.samples * page.bits / 8;
}

void finish_desc(Page& page, const Description& description) {
  page.desc.geometry = description.geometry;
  orient(page.desc, page.orientation);
}

/// Calls f(page, description, number) for every page; f returns whether to go on.
template <class F>
void for_pages(TiffFile& file, F&& f) {
  std::size_t number = 0;
  Description description;
  do {
    if (!is_page(file.get())) continue;
    Page page = read_page_tags(file, ++number);
    if (number == 1) description = read_description(file.get());
    if (!f(page, description, number)) return;
    if (number > 1000000) throw InputError(file.path(), "has more than a million pages");
  } while (TIFFReadDirectory(file.get()));
  if (!file.messages().error.empty()) file.fail(fmt::format("page {} cannot be read", number + 1));
  if (number == 0) throw InputError(file.path(), "holds no image");
}

/// ImageJ writes large stacks with one directory: the slices follow each other in the file.
bool slices_follow(const TiffFile& file, const Page& page, const Description& description, std::size_t pages) {
  const bool follow =
      pages == 1 && description.images > 1 && page.compression == COMPRESSION_NONE && !page.tiled && page.bits >= 8;
  if (follow && description.images > InputFile(file.path()).size() / page_bytes(page))
    throw InputError(file.path(),
                     fmt::format("truncated: it claims {} slices, more than it can hold", description.images));
  return follow;
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
  if (slices_follow(file, first, description, info.pages.size())) info.pages.assign(description.images, first.desc);
  if (info.pages.size() == 1) info.declares_volume = false;
  return info;
}

void read_following(TiffFile& file, const Page& page, const Geometry& geometry, std::size_t count, ReadResult& result) {
  std::uint64_t* offsets = nullptr;
  if (!TIFFGetField(file.get(), TIFFTAG_STRIPOFFSETS, &offsets)) file.fail("has no strips");
  const auto bytes = static_cast<std::int64_t>(page_bytes(page));
  const InputFile raw(file.path());
  const bool swapped = TIFFIsByteSwapped(file.get());
  for (std::size_t k = 1; k < count; ++k) {
    std::vector<std::byte> samples =
        raw.bytes(static_cast<std::int64_t>(offsets[0]) + static_cast<std::int64_t>(k) * bytes, bytes);
    const std::int64_t size = page.bits / 8;
    if (swapped && size > 1)
      for (std::int64_t i = 0; i < bytes; i += size) std::reverse(samples.data() + i, samples.data() + i + size);
    Image slice = image_of(file, page, std::move(samples));
    slice.desc().geometry = geometry;
    result.pages.push_back(apply_orientation(std::move(slice), page.orientation));
  }
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  TiffFile file(path, "rm");
  ReadResult result;
  Page kept;
  Description description;
  for_pages(file, [&](Page& page, const Description& d, std::size_t number) {
    if (number <= first) return true;
    if (result.pages.size() == count) return false;
    Image image = read_pixels(file, page, number);
    image.desc().geometry = d.geometry;
    result.pages.push_back(apply_orientation(std::move(image), page.orientation));
    if (result.pages.size() == 1) {
      result.notes = page.notes;
      result.notes.insert(result.notes.end(), d.notes.begin(), d.notes.end());
    }
    kept = page;
    description = d;
    return true;
  });
  if (first == 0 && count > 1 && slices_follow(file, kept, description, result.pages.size())) {
    read_following(file, kept, description.geometry, std::min(count, description.images), result);
  }
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
