#include "io/formats/webp/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

#include <cstring>
#include <memory>

#include "io/formats/orientation.h"
#include "io/formats/single_image.h"

namespace imgpipe::webp {
namespace {

constexpr std::int64_t largest_side = WEBP_MAX_DIMENSION;

/// A plain surface takes hardly any bytes: 16383 x 16383 pixels of one colour fit a few hundred.
constexpr std::int64_t best_ratio = std::int64_t{1} << 22;

struct Delete {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

/// A file's bytes, and the parser of its chunks, which points into them.
struct Container {
  const std::string& path;
  std::vector<std::byte> bytes;
  WebPData data{};
  std::unique_ptr<WebPDemuxer, Delete> demuxer;

  std::uint32_t number(WebPFormatFeature feature) const { return WebPDemuxGetI(demuxer.get(), feature); }
};

std::int64_t declared_size(std::span<const std::byte> head) {
  std::int64_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= static_cast<std::int64_t>(head[4 + i]) << 8 * i;
  return size + 8;
}

Container open(const std::string& path) {
  const InputFile file(path);
  Container container{path, file.bytes(0, std::max<std::int64_t>(file.size(), 12))};
  if (declared_size(container.bytes) > file.size()) throw InputError(path, "truncated: the file ends too early");
  container.data = {reinterpret_cast<const std::uint8_t*>(container.bytes.data()), container.bytes.size()};
  container.demuxer.reset(WebPDemux(&container.data));
  if (!container.demuxer) throw InputError(path, "truncated or damaged WebP");
  return container;
}

struct Header {
  ImageDesc desc;
  int orientation = 1;
  std::int64_t frames = 1;
  bool animated = false, profile = false;
  std::string compression;
  std::vector<std::string> notes;
};

int orientation_of(const Container& container) {
  WebPChunkIterator chunk;
  if (!WebPDemuxGetChunk(container.demuxer.get(), "EXIF", 1, &chunk)) return 1;
  const int orientation = exif_orientation({reinterpret_cast<const std::byte*>(chunk.chunk.bytes), chunk.chunk.size});
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

Header header_of(const Container& container) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(container.data.bytes, container.data.size, &features) != VP8_STATUS_OK)
    throw InputError(container.path, "damaged WebP header");
  Header header;
  header.desc.extent = {features.width, features.height, 1};
  header.desc.alpha = features.has_alpha != 0;
  header.desc.channels = header.desc.alpha ? 4 : 3;
  header.orientation = orientation_of(container);
  header.animated = features.has_animation != 0;
  header.frames = header.animated ? container.number(WEBP_FF_FRAME_COUNT) : 1;
  header.compression = features.format == 1 ? "webp lossy" : features.format == 2 ? "webp lossless" : "webp";
  if (header.orientation != 1) header.notes.push_back(orientation_note(header.orientation));
  header.profile = (container.number(WEBP_FF_FORMAT_FLAGS) & ICCP_FLAG) != 0;
  if (header.profile) header.notes.push_back(profile_dropped);
  if (header.animated) header.notes.push_back("animation: its frames are taken as pages");
  if (header.frames < 1) throw InputError(container.path, "damaged WebP: an animation without frames");
  check_size(container.path, header.desc);
  check_ratio(container.path, static_cast<std::int64_t>(container.data.size) / header.frames, header.desc.bytes(),
              best_ratio);
  return header;
}

FileInfo read_info(const std::string& path) {
  const Container container = open(path);
  Header header = header_of(container);
  orient(header.desc, header.orientation);
  return {std::vector<ImageDesc>(static_cast<std::size_t>(header.frames), header.desc), false, header.compression,
          header.notes};
}

Image read_still(const Container& container, const Header& header) {
  Image image(header.desc);
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) throw InputError(container.path, "libwebp cannot be started");
  config.output.colorspace = header.desc.alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {image.samples<std::uint8_t>(),
                          static_cast<int>(header.desc.bytes() / header.desc.extent.height),
                          static_cast<std::size_t>(header.desc.bytes())};
  const VP8StatusCode status = WebPDecode(container.data.bytes, container.data.size, &config);
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc();
  if (status != VP8_STATUS_OK) throw InputError(container.path, "truncated or damaged WebP: it cannot be decoded");
  return image;
}

Image canvas_image(const ImageDesc& desc, const std::uint8_t* canvas) {
  Image image(desc);
  auto* out = image.samples<std::uint8_t>();
  for (std::int64_t i = 0; i < desc.extent.pixels(); ++i, canvas += 4)
    for (int c = 0; c < desc.channels; ++c) *out++ = canvas[c];
  return image;
}

/// A frame may change only a part of the one before: all up to the last one asked for are decoded.
std::vector<Image> read_frames(const Container& container, const Header& header, std::int64_t first,
                               std::int64_t count) {
  WebPAnimDecoderOptions options;
  if (!WebPAnimDecoderOptionsInit(&options)) throw InputError(container.path, "libwebp cannot be started");
  options.color_mode = MODE_RGBA;
  const std::unique_ptr<WebPAnimDecoder, Delete> decoder(WebPAnimDecoderNew(&container.data, &options));
  if (!decoder) throw InputError(container.path, "the animation cannot be decoded");
  std::vector<Image> pages;
  for (std::int64_t i = 0; i < first + count; ++i) {
    std::uint8_t* canvas = nullptr;
    int time = 0;
    if (!WebPAnimDecoderGetNext(decoder.get(), &canvas, &time))
      throw InputError(container.path, "truncated or damaged WebP: frame " + std::to_string(i + 1));
    if (i >= first) pages.push_back(canvas_image(header.desc, canvas));
  }
  return pages;
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  ReadResult result;
  if (count == 0) return result;
  const Container container = open(path);
  const Header header = header_of(container);
  const auto frames = static_cast<std::size_t>(header.frames);
  if (first >= frames)
    throw InputError(path, "has " + std::to_string(frames) + " pages, not page " + std::to_string(first + 1));
  result.notes = header.notes;
  if (header.profile) result.warnings.push_back(profile_dropped);
  if (header.animated)
    result.pages = read_frames(container, header, static_cast<std::int64_t>(first),
                               static_cast<std::int64_t>(std::min(count, frames - first)));
  else
    result.pages.push_back(read_still(container, header));
  for (Image& page : result.pages) page = apply_orientation(std::move(page), header.orientation);
  return result;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t pages) {
  if (auto reason = not_one_2d_image("WebP", desc, pages)) return reason;
  const char* holds = "uint8 RGB or RGBA";
  if (desc.dtype != DType::u8)
    return cannot_hold_samples("WebP", holds, desc, "write .png or .tif, or add a step `rescale: uint8`");
  if (desc.channels != (desc.alpha ? 4 : 3)) return cannot_hold_samples("WebP", holds, desc, "write .png or .tif");
  if (desc.extent.width > largest_side || desc.extent.height > largest_side)
    return "WebP holds at most 16383 pixels a side: write .png or .tif";
  return std::nullopt;
}

int write_bytes(const std::uint8_t* bytes, std::size_t size, const WebPPicture* picture) {
  return static_cast<OutputFile*>(picture->custom_ptr)->write(bytes, size);
}

WebPConfig config_for(const std::string& path, int quality) {
  WebPConfig config;
  if (!WebPConfigInit(&config)) throw InputError(path, "libwebp cannot be started");
  config.quality = static_cast<float>(quality);
  if (quality < 100) return config;
  constexpr int usual_effort = 6;
  WebPConfigLosslessPreset(&config, usual_effort);
  config.exact = 1;  // also the colours of transparent pixels
  return config;
}

/// The encoder's picture, filled with a copy of the image.
class Picture {
 public:
  Picture(const std::string& path, const Image& image, bool argb) {
    const ImageDesc& desc = image.desc();
    if (!WebPPictureInit(&picture)) throw InputError(path, "libwebp cannot be started");
    picture.use_argb = argb;
    picture.width = static_cast<int>(desc.extent.width);
    picture.height = static_cast<int>(desc.extent.height);
    const auto import = desc.alpha ? WebPPictureImportRGBA : WebPPictureImportRGB;
    const int row_bytes = picture.width * desc.channels;
    if (!import(&picture, image.samples<std::uint8_t>(), row_bytes)) {
      WebPPictureFree(&picture);
      throw std::bad_alloc();
    }
  }
  ~Picture() { WebPPictureFree(&picture); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  WebPPicture picture;
};

void write(const std::string& path, std::span<const Image> pages, const WriteOptions& options) {
  const Image& image = the_image(path, pages, spec());
  const WebPConfig config = config_for(path, options.quality);
  Picture source(path, image, config.lossless != 0);
  OutputFile out(path);
  source.picture.writer = write_bytes;
  source.picture.custom_ptr = &out;
  const bool done = WebPEncode(&config, &source.picture) != 0;
  out.close();
  if (!done) throw InputError(path, "cannot be written as WebP: error " + std::to_string(source.picture.error_code));
}

bool sniff(std::span<const std::byte> head) {
  return head.size() >= 12 && std::memcmp(head.data(), "RIFF", 4) == 0 && std::memcmp(head.data() + 8, "WEBP", 4) == 0;
}

}  // namespace

Format spec() {
  return {.name = "webp",
          .summary = "WebP: uint8 RGB and RGBA; lossy, or lossless at quality 100",
          .suffixes = {".webp"},
          .priority = 20,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::webp
