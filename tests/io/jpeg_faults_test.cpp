// JPEG files as they are found: inks, orientations, odd processes, profiles, and files that are cut or lie.
#include <gtest/gtest.h>

#include <cstdio>
// jpeglib.h needs the declarations of cstdio before it.
#include <jpeglib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "tests/io/files.h"

namespace imgpipe::test {
namespace {

struct JpegOptions {
  J_COLOR_SPACE in = JCS_RGB, stored = JCS_YCbCr;
  bool adobe_marker = false, jfif_marker = false, arithmetic = false, progressive = false;
  int quality = 100, subsampling = 1;
};

/// `pixels` are rows of as many samples a pixel as the input colour space has.
std::string jpeg(int width, int height, const std::vector<std::uint8_t>& pixels, const JpegOptions& options = {}) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = static_cast<int>(pixels.size()) / width / height;
  info.in_color_space = options.in;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, options.stored);
  jpeg_set_quality(&info, options.quality, TRUE);
  info.write_Adobe_marker = options.adobe_marker;
  info.write_JFIF_header = options.jfif_marker;
  info.arith_code = options.arithmetic;
  info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = options.subsampling;
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels.data() + info.next_scanline * pixels.size() / info.image_height);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string text(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return text;
}

/// The file with a marker segment behind its start.
std::string with_segment(const std::string& file, int marker, const std::string& payload) {
  return file.substr(0, 2) + bytes_of({0xff, marker}) + big(payload.size() + 2, 2) + payload + file.substr(2);
}

std::vector<std::uint8_t> uniform(int pixels, std::initializer_list<std::uint8_t> pixel) {
  std::vector<std::uint8_t> all;
  for (int i = 0; i < pixels; ++i) all.insert(all.end(), pixel.begin(), pixel.end());
  return all;
}

std::vector<std::uint8_t> smooth(int width, int height, int channels) {
  std::vector<std::uint8_t> all;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) all.push_back(static_cast<std::uint8_t>(40 + 2 * x + y + 20 * c));
  return all;
}

ReadResult read_bytes(const std::string& bytes) {
  const Folder folder;
  put(folder.file("a"), bytes);
  return read_file(folder.file("a"));
}

std::string why_not(const std::string& bytes) {
  const Folder folder;
  put(folder.file("a"), bytes);
  return refusal_of(folder.file("a"));
}

std::string exif(int orientation, bool big_endian) {
  const auto n = [&](unsigned v, int size) { return big_endian ? big(v, size) : little(v, size); };
  const std::string value = n(static_cast<unsigned>(orientation), 2) + n(0, 2);
  return std::string("Exif\0\0", 6) + (big_endian ? "MM" : "II") + n(42, 2) + n(8, 4) + n(1, 2) + n(0x112, 2) +
         n(3, 2) + n(1, 4) + value + n(0, 4);
}

TEST(JpegFaults, OrientationIsAppliedInReadingAndInTheHeader) {
  std::vector<std::uint8_t> pixels(32 * 16, 0);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 16; ++x) pixels[static_cast<std::size_t>(y * 32 + x)] = 255;
  const std::string plain = jpeg(32, 16, pixels, {.in = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE});
  // Which quadrant is white then: right, bottom.
  const bool right[] = {false, true, true, false, false, true, true, false};
  const bool bottom[] = {false, false, true, true, false, false, true, true};
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (bool big_endian : {false, true}) {
      const ReadResult read = read_bytes(with_segment(plain, 0xe1, exif(orientation, big_endian)));
      const Image& image = read.pages[0];
      const Extent extent = orientation > 4 ? Extent{16, 32} : Extent{32, 16};
      ASSERT_EQ(image.desc().extent, extent) << orientation;
      for (bool r : {false, true})
        for (bool b : {false, true}) {
          const double v = sample(image, extent.width / 4 + (r ? extent.width / 2 : 0),
                                  extent.height / 4 + (b ? extent.height / 2 : 0));
          const bool white = r == right[orientation - 1] && b == bottom[orientation - 1];
          EXPECT_NEAR(v, white ? 255 : 0, 3) << orientation << " right " << r << " bottom " << b;
        }
      EXPECT_EQ(read.notes.size(), orientation == 1 ? 0u : 1u);
    }
}

TEST(JpegFaults, InksBecomeTheirColoursWithAdobesMarkerAndWithout) {
  // Red is no cyan, all magenta and yellow, no black; Adobe stores it inverted.
  for (J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    const std::string plain = jpeg(16, 16, uniform(256, {0, 255, 255, 0}), {.in = JCS_CMYK, .stored = JCS_CMYK});
    const std::string adobe =
        jpeg(16, 16, uniform(256, {255, 0, 0, 255}), {.in = JCS_CMYK, .stored = stored, .adobe_marker = true});
    // The word "Adobe" in another segment is no marker of inks.
    const std::string profile = with_segment(plain, 0xe1,
                                             "http://ns.adobe.com/ \xff\xee\x01\x02"
                                             "Adobe Photoshop");
    for (const std::string& bytes : {plain, adobe, profile}) {
      const ReadResult read = read_bytes(bytes);
      EXPECT_EQ(read.pages[0].desc().channels, 3);
      EXPECT_NEAR(sample(read.pages[0], 5, 5, 0, 0), 255, 3);
      EXPECT_NEAR(sample(read.pages[0], 5, 5, 0, 1), 0, 3);
      EXPECT_NEAR(sample(read.pages[0], 5, 5, 0, 2), 0, 3);
      EXPECT_EQ(read.notes, std::vector<std::string>{"CMYK converted to RGB"});
    }
  }
}

TEST(JpegFaults, OtherProcessesDecodeToThePixelsOfBaseline) {
  const std::vector<std::uint8_t> pixels = smooth(40, 24, 3);
  const ReadResult baseline = read_bytes(jpeg(40, 24, pixels));
  const JpegOptions others[] = {{.arithmetic = true}, {.progressive = true}, {.arithmetic = true, .progressive = true}};
  for (const JpegOptions& options : others)
    EXPECT_EQ(difference(read_bytes(jpeg(40, 24, pixels, options)).pages[0], baseline.pages[0]), "");
  const ReadResult rgb = read_bytes(jpeg(40, 24, pixels, {.stored = JCS_RGB, .adobe_marker = true}));
  const std::vector<double> a = samples(rgb.pages[0]), b = samples(baseline.pages[0]);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2) << i;
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], pixels[i], 2) << i;
}

TEST(JpegFaults, LosslessAndTwelveBitFilesAreRefusedByName) {
  const std::string good = jpeg(16, 16, uniform(256, {1, 2, 3}));
  const std::size_t frame = good.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  std::string lossless = good, twelve = good;
  lossless[frame + 1] = '\xc3';
  twelve[frame + 4] = 12;
  EXPECT_NE(why_not(lossless).find("lossless"), std::string::npos) << why_not(lossless);
  EXPECT_NE(why_not(twelve).find("not 8-bit"), std::string::npos) << why_not(twelve);
}

TEST(JpegFaults, DensityIsTheSpacing) {
  const Folder folder;
  const std::string path = folder.file("a.jpg");
  for (const auto& [unit, dots, spacing] : {std::tuple(1, 254, 0.1), std::tuple(2, 50, 0.2)}) {
    std::string bytes = jpeg(8, 8, uniform(64, {1, 2, 3}), {.jfif_marker = true});
    const std::size_t at = bytes.find("JFIF") + 7;
    bytes.replace(at, 5,
                  little(static_cast<unsigned>(unit), 1) + big(static_cast<unsigned>(dots), 2) +
                      big(static_cast<unsigned>(2 * dots), 2));
    const Geometry geometry = read_bytes(bytes).pages[0].desc().geometry;
    EXPECT_NEAR(geometry.spacing[0], spacing, 1e-12);
    EXPECT_NEAR(geometry.spacing[1], spacing / 2, 1e-12);
    EXPECT_EQ(geometry.unit, "mm");
  }
  EXPECT_EQ(read_bytes(jpeg(8, 8, uniform(64, {1, 2, 3}), {.jfif_marker = true})).pages[0].desc().geometry, Geometry{});
  Image image = random_image(make_desc(DType::u8, {8, 8}), 1);
  for (const Geometry& geometry :
       {Geometry{{25.4 / 300, 25.4 / 150, 1}, {0, 0, 0}, "mm"}, Geometry{{0.25, 0.5, 1}, {0, 0, 0}, "um"},
        Geometry{{1e-9, 1, 1}, {0, 0, 0}, "nm"}}) {
    image.desc().geometry = geometry;
    format_for_output(path)->write(path, pages_of(copy_of(image)), {});
    const Geometry back = read_file(path).pages[0].desc().geometry;
    const double mm = geometry.unit == "mm" ? 1 : 1e-3;
    if (geometry.unit == "nm") {
      EXPECT_EQ(back, Geometry{});
      continue;
    }
    EXPECT_NEAR(back.spacing[0] / (geometry.spacing[0] * mm), 1, 1e-4);
    EXPECT_NEAR(back.spacing[1] / (geometry.spacing[1] * mm), 1, 1e-4);
  }
}

TEST(JpegFaults, ADroppedProfileIsWarnedOfOnce) {
  std::string bytes = jpeg(8, 8, uniform(64, {1, 2, 3}));
  EXPECT_TRUE(read_bytes(bytes).warnings.empty());
  for (int part = 2; part >= 1; --part)
    bytes = with_segment(bytes, 0xe2, std::string("ICC_PROFILE\0", 12) + bytes_of({part, 2}) + std::string(3000, 'x'));
  EXPECT_EQ(read_bytes(bytes).warnings.size(), 1u);
}

TEST(JpegFaults, CutFilesAreRefusedUnlessOnlyTheEndMarkerIsMissing) {
  const Folder folder;
  const std::string path = folder.file("a.jpg");
  const JpegOptions kinds[] = {
      {.quality = 90}, {.progressive = true, .quality = 90}, {.quality = 90, .subsampling = 2}};
  for (const JpegOptions& options : kinds) {
    const std::string good = jpeg(24, 16, smooth(24, 16, 3), options);
    const Image whole = copy_of(read_bytes(good).pages[0]);
    for (std::size_t n = 0; n < good.size(); ++n) {
      put(path, good.substr(0, n));
      const std::string reason = refusal_of(path);
      if (n + 2 < good.size()) {
        EXPECT_NE(reason, "") << n << " of " << good.size() << (options.progressive ? " progressive" : "");
      }
      if (reason.empty()) {
        const ReadResult read = read_file(path);
        EXPECT_EQ(difference(read.pages[0], whole), "") << n << " of " << good.size();
        EXPECT_EQ(read.warnings.size(), 1u);
      }
    }
    survive_every_flipped_byte(path, good);
  }
}

TEST(JpegFaults, HalfOfANoisyFileIsRefused) {
  const Folder folder;
  const Image noise = random_image(make_desc(DType::u8, {64, 64}, 3), 9);
  format_for_output("a.jpg")->write(folder.file("a.jpg"), pages_of(copy_of(noise)), {});
  const std::string bytes = get(folder.file("a.jpg"));
  EXPECT_NE(why_not(bytes.substr(0, bytes.size() / 2)), "");
}

TEST(JpegFaults, AHeaderOfAbsurdSizeIsRefusedUnread) {
  std::string bytes = jpeg(16, 16, uniform(256, {1, 2, 3}));
  const std::size_t frame = bytes.find("\xff\xc0");
  bytes.replace(frame + 5, 4, big(65500, 2) + big(65500, 2));
  EXPECT_NE(why_not(bytes).find("cannot hold"), std::string::npos) << why_not(bytes);
}

TEST(JpegFaults, LargeAreasOfOneColourAreRead) {
  for (bool progressive : {false, true})
    EXPECT_EQ(why_not(jpeg(6000, 4000, std::vector<std::uint8_t>(6000 * 4000 * 3, 90),
                           {.progressive = progressive, .quality = 10, .subsampling = 2})),
              "");
}

}  // namespace
}  // namespace imgpipe::test
