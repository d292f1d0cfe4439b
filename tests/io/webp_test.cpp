// WebP: lossless at quality 100, lossy below, orientation, animations, truncation, OpenCV both ways.
#include <gtest/gtest.h>

#include <cstring>
#include <opencv2/imgcodecs.hpp>

#include "tests/io/files.h"

namespace imgpipe::test {
namespace {

void write_webp(const std::string& path, const Image& image, int quality) {
  WriteOptions options;
  options.quality = quality;
  format_for_output(path)->write(path, pages_of(copy_of(image)), options);
}

Image smooth_image(int width, int height, bool alpha) {
  Image image(make_desc(DType::u8, {width, height}, alpha ? 4 : 3, alpha));
  auto* out = image.samples<std::uint8_t>();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < image.desc().channels; ++c) *out++ = static_cast<std::uint8_t>(2 * x + y + 30 * c + 20);
  return image;
}

std::string chunk(const std::string& name, const std::string& payload) {
  return name + little(payload.size(), 4) + payload + (payload.size() % 2 ? std::string(1, '\0') : "");
}

std::string riff(const std::string& chunks) { return "RIFF" + little(chunks.size() + 4, 4) + "WEBP" + chunks; }

/// The bitstream chunk of a simple file: all behind its container's header.
std::string bitstream(const Image& image, const Folder& folder) {
  write_webp(folder.file("b.webp"), image, 100);
  return get(folder.file("b.webp")).substr(12);
}

std::string vp8x(int flags, int width, int height) {
  return chunk("VP8X", little(static_cast<unsigned>(flags), 4) + little(static_cast<unsigned>(width - 1), 3) +
                           little(static_cast<unsigned>(height - 1), 3));
}

TEST(Webp, IsLosslessAtQuality100) {
  const Folder folder;
  const std::string path = folder.file("a.webp");
  for (int channels : {3, 4})
    for (const Extent& extent : {Extent{1, 1}, Extent{1, 9}, Extent{13, 1}, Extent{31, 17}, Extent{300, 200}}) {
      const Image image = random_image(make_desc(DType::u8, extent, channels, channels == 4), 3);
      write_webp(path, image, 100);
      EXPECT_EQ(difference(read_file(path).pages[0], image), "");
      EXPECT_EQ(format_of_file(path).read_info(path).compression, "webp lossless");
    }
}

TEST(Webp, IsCloseBelow) {
  const Folder folder;
  const std::string path = folder.file("a.webp");
  for (bool alpha : {false, true}) {
    const Image image = smooth_image(60, 40, alpha);
    write_webp(path, image, 92);
    const std::vector<double> in = samples(image), out = samples(read_file(path).pages[0]);
    ASSERT_EQ(in.size(), out.size());
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(in[i], out[i], 10);
  }
}

TEST(Webp, OrientationIsApplied) {
  const Folder folder;
  const std::string path = folder.file("a.webp");
  const Image image = random_image(make_desc(DType::u8, {3, 2}, 3), 1);
  const std::string pixels = bitstream(image, folder);
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const char* prefix : {"", "Exif"}) {
      std::string exif = *prefix ? std::string("Exif\0\0", 6) : "";
      exif += "II" + little(42, 2) + little(8, 4) + little(1, 2) + little(0x112, 2) + little(3, 2) + little(1, 4) +
              little(static_cast<unsigned>(orientation), 4) + little(0, 4);
      put(path, riff(vp8x(8, 3, 2) + pixels + chunk("EXIF", exif)));
      const ReadResult read = read_file(path);
      const bool turned = orientation > 4;
      ASSERT_EQ(read.pages[0].desc().extent, (turned ? Extent{2, 3} : Extent{3, 2}));
      const int corner_x[] = {0, 2, 2, 0, 0, 0, 2, 2}, corner_y[] = {0, 0, 1, 1, 0, 1, 1, 0};
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(sample(read.pages[0], 0, 0, 0, c),
                  sample(image, corner_x[orientation - 1], corner_y[orientation - 1], 0, c))
            << orientation;
      EXPECT_EQ(read.notes.size(), orientation == 1 ? 0u : 1u);
    }
}

TEST(Webp, ADroppedProfileIsWarnedOf) {
  const Folder folder;
  const std::string path = folder.file("a.webp");
  const Image image = random_image(make_desc(DType::u8, {3, 2}, 3), 1);
  put(path, riff(vp8x(0x20, 3, 2) + chunk("ICCP", std::string(3000, 'x')) + bitstream(image, folder)));
  const ReadResult read = read_file(path);
  EXPECT_EQ(read.warnings.size(), 1u);
  EXPECT_EQ(difference(read.pages[0], image), "");
}

std::string frame(int x, int y, int width, int height, const std::string& pixels) {
  const auto number = [](int v) { return little(static_cast<unsigned>(v), 3); };
  return chunk("ANMF", number(x / 2) + number(y / 2) + number(width - 1) + number(height - 1) + number(100) +
                           std::string(1, '\2') + pixels);  // not blended, not disposed of
}

TEST(Webp, FramesOfAnAnimationArePages) {
  const Folder folder;
  const std::string path = folder.file("a.webp");
  const Image first = random_image(make_desc(DType::u8, {4, 2}, 3), 1),
              part = random_image(make_desc(DType::u8, {2, 2}, 3), 2);
  put(path, riff(vp8x(2, 4, 2) + chunk("ANIM", std::string(6, '\0')) + frame(0, 0, 4, 2, bitstream(first, folder)) +
                 frame(2, 0, 2, 2, bitstream(part, folder))));
  const ReadResult read = read_file(path);
  ASSERT_EQ(read.pages.size(), 2u);
  EXPECT_EQ(difference(read.pages[0], first), "");
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 4; ++x)
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(sample(read.pages[1], x, y, 0, c), x < 2 ? sample(first, x, y, 0, c) : sample(part, x - 2, y, 0, c));
  EXPECT_EQ(read.notes.size(), 1u);
  const ReadResult second = format_of_file(path).read(path, 1, 5);
  ASSERT_EQ(second.pages.size(), 1u);
  EXPECT_EQ(difference(second.pages[0], read.pages[1]), "");
  EXPECT_THROW(format_of_file(path).read(path, 2, 1), InputError);
}

TEST(Webp, EveryPrefixIsRefusedAndNoByteCrashes) {
  const Folder folder;
  const std::string path = folder.file("a.webp");
  for (bool alpha : {false, true})
    for (int quality : {80, 100}) {
      write_webp(path, smooth_image(20, 10, alpha), quality);
      const std::string good = get(path);
      expect_every_prefix_refused(path, good);
      survive_every_flipped_byte(path, good);
      // The container itself may be cut and still say that it is whole.
      for (std::size_t n = 20; n < good.size(); n += 2) {
        put(path, riff(good.substr(12, n - 12)));
        EXPECT_NE(refusal_of(path), "") << n << " of " << good.size();
      }
    }
}

TEST(Webp, HeadersThatLieAreRefused) {
  const Folder folder;
  const std::string path = folder.file("a.webp");
  const std::string small = bitstream(random_image(make_desc(DType::u8, {3, 2}, 3), 1), folder);
  std::string huge = small;
  huge.replace(9, 4, little(0x3fff | 0x3fff << 14, 4));
  for (const std::string& bytes :
       {riff(huge), riff(vp8x(0, 1 << 24, 200) + small), riff(vp8x(0, 1 << 24, 1 << 24) + small),
        riff(vp8x(2, 1 << 16, 1 << 15) + chunk("ANIM", std::string(6, '\0')) + frame(0, 0, 3, 2, small)),
        riff(vp8x(2, 4, 2) + chunk("ANIM", std::string(6, '\0'))), riff("")}) {
    put(path, bytes);
    EXPECT_NE(refusal_of(path), "");
  }
}

TEST(Webp, LargeAreasOfOneColourAreRead) {
  const Folder folder;
  const std::string path = folder.file("a.webp");
  Image image(make_desc(DType::u8, {16383, 1000}, 3));
  std::memset(image.data(), 77, static_cast<std::size_t>(image.desc().bytes()));
  for (int quality : {92, 100}) {
    write_webp(path, image, quality);
    EXPECT_EQ(refusal_of(path), "") << get(path).size() << " bytes";
  }
}

TEST(Webp, GrayAndWideSamplesAreRefused) {
  const Format& format = *format_for_output("a.webp");
  EXPECT_TRUE(format.cannot_hold("a.webp", make_desc(DType::u8, {2, 2}, 1), 1));
  EXPECT_TRUE(format.cannot_hold("a.webp", make_desc(DType::u16, {2, 2}, 3), 1));
  EXPECT_TRUE(format.cannot_hold("a.webp", make_desc(DType::u8, {16384, 2}, 3), 1));
  EXPECT_FALSE(format.cannot_hold("a.webp", make_desc(DType::u8, {16383, 2}, 4, true), 1));
}

TEST(Webp, IsReadAndWrittenAlikeByOpenCv) {
  const Folder folder;
  const std::string ours = folder.file("ours.webp"), theirs = folder.file("theirs.webp");
  for (int channels : {3, 4})
    for (int quality : {80, 100}) {
      write_webp(ours, smooth_image(33, 21, channels == 4), quality);
      const Image image = copy_of(read_file(ours).pages[0]);
      const cv::Mat mat = cv::imread(ours, cv::IMREAD_UNCHANGED);
      ASSERT_EQ(mat.type(), CV_MAKETYPE(CV_8U, channels));
      for (int y = 0; y < 21; ++y)
        for (int x = 0; x < 33; ++x)
          for (int c = 0; c < channels; ++c)
            ASSERT_EQ(mat.ptr(y)[x * channels + (c < 3 ? 2 - c : c)], sample(image, x, y, 0, c));
      ASSERT_TRUE(cv::imwrite(theirs, mat, {cv::IMWRITE_WEBP_QUALITY, 101}));
      EXPECT_EQ(difference(read_file(theirs).pages[0], image), "");
    }
}

}  // namespace
}  // namespace imgpipe::test
