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

/// A whole file, its parts, and what they say.
struct Contents {
  std::vector<std::byte> bytes;
  WebPData frame{};  ///< the encoded image
  ImageDesc desc;
  int orientation = 1;
  bool lossless = false;
  std::vector<std::string> notes;
};

struct CloseDemuxer {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};

int orientation_of(const WebPDemuxer* demuxer) {
  WebPChunkIterator chunk;
  if (!WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk)) return 1;
  const int orientation = exif_orientation({reinterpret_cast<const std::byte*>(chunk.chunk.bytes), chunk.chunk.size});
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

/// The first frame of an animation covers its canvas or is not an image of its own.
void take_frame(const std::string& path, const WebPDemuxer* demuxer, Contents& contents) {
  WebPIterator frame;
  if (!WebPDemuxGetFrame(demuxer, 1, &frame)) throw InputError(path, "damaged WebP: it holds no image");
  const auto width = static_cast<int>(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH));
  const auto height = static_cast<int>(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT));
  const int frames = frame.num_frames;
  const bool whole = frame.complete && frame.width == width && frame.height == height;
  contents.frame = frame.fragment;
  WebPDemuxReleaseIterator(&frame);
  if (!whole) throw InputError(path, "the first frame of the animation does not cover it");
  if (frames > 1)
    contents.notes.push_back("animation of " + std::to_string(frames) + " frames: only the first is read");
}

Contents contents_of(const std::string& path) {
  const InputFile file(path);
  Contents contents;
  contents.bytes = file.bytes(0, file.size());
  const WebPData data{reinterpret_cast<const std::uint8_t*>(contents.bytes.data()), contents.bytes.size()};
  const std::unique_ptr<WebPDemuxer, CloseDemuxer> demuxer(WebPDemux(&data));
  if (!demuxer) throw InputError(path, "truncated or damaged WebP");
  take_frame(path, demuxer.get(), contents);
  contents.orientation = orientation_of(demuxer.get());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(contents.frame.bytes, contents.frame.size, &features) != VP8_STATUS_OK)
    throw InputError(path, "damaged WebP: the image's header cannot be read");
  contents.lossless = features.format == 2;
  contents.desc.extent = {features.width, features.height, 1};
  contents.desc.alpha = features.has_alpha != 0;
  contents.desc.channels = contents.desc.alpha ? 4 : 3;
  if (WebPDemuxGetI(demuxer.get(), WEBP_FF_FORMAT_FLAGS) & ICCP_FLAG) contents.notes.push_back("ICC profile not kept");
  if (contents.orientation != 1) contents.notes.push_back(orientation_note(contents.orientation));
  check_size(path, contents.desc);
  return contents;
}

FileInfo read_info(const std::string& path) {
  const Contents contents = contents_of(path);
  FileInfo info{{contents.desc}, false, contents.lossless ? "webp lossless" : "webp", contents.notes};
  orient(info.pages[0], contents.orientation);
  return info;
}

ReadResult read(const std::string& path, std::size_t first, std::size_t count) {
  if (!wants_the_page(path, first, count)) return {};
  const Contents contents = contents_of(path);
  Image image(contents.desc);
  const auto decode = contents.desc.alpha ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  const auto bytes = static_cast<std::size_t>(contents.desc.bytes());
  const int stride = static_cast<int>(contents.desc.extent.width * contents.desc.channels);
  if (!decode(contents.frame.bytes, contents.frame.size, image.samples<std::uint8_t>(), bytes, stride))
    throw InputError(path, "truncated or damaged WebP: its pixels cannot be decoded");
  ReadResult result;
  result.notes = contents.notes;
  result.pages.push_back(apply_orientation(std::move(image), contents.orientation));
  return result;
}

std::optional<std::string> cannot_hold(const std::string&, const ImageDesc& desc, std::size_t pages) {
  if (auto reason = not_one_2d_image("WebP", desc, pages)) return reason;
  const bool fits = desc.dtype == DType::u8 && (desc.alpha ? desc.channels == 4 : desc.channels == 3);
  if (!fits) return cannot_hold_samples("WebP", "uint8 RGB or RGBA", desc, "write .png or .tif");
  if (desc.extent.width > WEBP_MAX_DIMENSION || desc.extent.height > WEBP_MAX_DIMENSION)
    return "WebP holds sides of up to " + std::to_string(WEBP_MAX_DIMENSION) + " pixels: write .png or .tif";
  return std::nullopt;
}

int put_bytes(const std::uint8_t* data, std::size_t size, const WebPPicture* picture) {
  return static_cast<OutputFile*>(picture->custom_ptr)->write(data, size);
}

struct Picture : WebPPicture {
  Picture() {
    if (!WebPPictureInit(this)) throw std::bad_alloc();
  }
  ~Picture() { WebPPictureFree(this); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
};

WebPConfig settings(int quality) {
  WebPConfig config;
  if (!WebPConfigInit(&config)) throw std::bad_alloc();
  config.quality = static_cast<float>(quality);
  config.lossless = quality == 100;
  config.exact = 1;  // colours under transparent pixels stay
  return config;
}

void write(const std::string& path, std::span<const Image> pages, const WriteOptions& options) {
  const Image& image = the_image(path, pages, spec());
  const ImageDesc& desc = image.desc();
  const WebPConfig config = settings(options.quality);
  Picture picture;
  picture.use_argb = config.lossless;
  picture.width = static_cast<int>(desc.extent.width);
  picture.height = static_cast<int>(desc.extent.height);
  const auto import = desc.alpha ? WebPPictureImportRGBA : WebPPictureImportRGB;
  if (!import(&picture, image.samples<std::uint8_t>(), picture.width * desc.channels)) throw std::bad_alloc();
  OutputFile out(path);
  picture.writer = put_bytes;
  picture.custom_ptr = &out;
  const bool done = WebPEncode(&config, &picture) != 0;
  out.close();
  if (!done) throw InputError(path, "cannot be written as WebP: libwebp error " + std::to_string(picture.error_code));
}

bool sniff(std::span<const std::byte> head) {
  return head.size() >= 12 && std::memcmp(head.data(), "RIFF", 4) == 0 && std::memcmp(head.data() + 8, "WEBP", 4) == 0;
}

}  // namespace

Format spec() {
  return {.name = "webp",
          .summary = "WebP: uint8 RGB, with or without alpha; lossy, or lossless at quality 100",
          .suffixes = {".webp"},
          .priority = 90,
          .sniff = sniff,
          .read_info = read_info,
          .read = read,
          .cannot_hold = cannot_hold,
          .write = write};
}

}  // namespace imgpipe::webp
