// JPEG and PNG files as they come: orientation, palettes, inks, rare codings and files that claim too much.
#include <zlib.h>

// jpeglib.h needs what stdio.h declares.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include "tests/io/files.h"

namespace imgpipe::test {
namespace {

using Numbers = std::vector<double>;

// ---- JPEG by libjpeg

struct JpegSettings {
  J_COLOR_SPACE in = JCS_RGB, stored = JCS_YCbCr;
  bool adobe = false, progressive = false, arithmetic = false;
  int density_unit = 0, density = 0;
  std::string exif, profile;
};

std::string jpeg(int width, int height, const std::string& pixels, const JpegSettings& s) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = static_cast<int>(pixels.size()) / (width * height);
  info.in_color_space = s.in;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, s.stored);
  jpeg_set_quality(&info, 100, TRUE);
  for (int c = 0; c < info.num_components; ++c) info.comp_info[c].h_samp_factor = info.comp_info[c].v_samp_factor = 1;
  if (s.in == JCS_CMYK) info.write_Adobe_marker = s.adobe;
  if (s.progressive) jpeg_simple_progression(&info);
  info.arith_code = s.arithmetic;
  if (s.density > 0) {
    info.density_unit = static_cast<UINT8>(s.density_unit);
    info.X_density = info.Y_density = static_cast<UINT16>(s.density);
  }
  jpeg_start_compress(&info, TRUE);
  const auto marker = [&](int number, const std::string& text) {
    if (!text.empty())
      jpeg_write_marker(&info, JPEG_APP0 + number, reinterpret_cast<const JOCTET*>(text.data()),
                        static_cast<unsigned>(text.size()));
  };
  marker(1, s.exif);
  marker(2, s.profile);
  const int stride = width * info.input_components;
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(reinterpret_cast<const JSAMPLE*>(pixels.data()) + info.next_scanline * stride);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  const std::string out(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  jpeg_destroy_compress(&info);
  return out;
}

std::string exif_of(int orientation, bool big_endian) {
  const auto put = [&](int v, int size) { return number(v, size, big_endian); };
  return std::string(big_endian ? "MM" : "II") + put(42, 2) + put(8, 4) + put(1, 2) + put(0x112, 2) + put(3, 2) +
         put(1, 4) + put(orientation, 2) + put(0, 2) + put(0, 4);
}

/// White where it is the top left quarter, as a person sees it.
std::string white_corner(int width, int height, int channels) {
  std::string pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      pixels += std::string(static_cast<std::size_t>(channels), x < width / 2 && y < height / 2 ? '\xff' : '\0');
  return pixels;
}

/// Which quarter of an image is bright: 0 top left, 1 top right, 2 bottom left, 3 bottom right.
int bright_quarter(const Image& image) {
  const std::int64_t w = image.desc().extent.width, h = image.desc().extent.height;
  int found = -1;
  for (int q = 0; q < 4; ++q)
    if (sample(image, w / 4 + (q % 2) * w / 2, h / 4 + (q / 2) * h / 2) > 200) {
      EXPECT_EQ(found, -1);
      found = q;
    }
  return found;
}

const int quarter_of_orientation[] = {0, 1, 3, 2, 0, 1, 3, 2};

TEST(JpegOrientation, IsAppliedAndDropped) {
  const Folder folder;
  for (int channels : {1, 3})
    for (bool big_endian : {false, true})
      for (int o = 1; o <= 8; ++o) {
        JpegSettings s;
        if (channels == 1) s.in = s.stored = JCS_GRAYSCALE;
        s.exif = std::string("Exif\0\0", 6) + exif_of(o, big_endian);
        const ReadResult read = read_bytes(folder, jpeg(32, 16, white_corner(32, 16, channels), s));
        const Extent expected = o < 5 ? Extent{32, 16, 1} : Extent{16, 32, 1};
        EXPECT_EQ(read.pages[0].desc().extent, expected) << o;
        EXPECT_EQ(bright_quarter(read.pages[0]), quarter_of_orientation[o - 1]) << o;
        EXPECT_EQ(read.notes.size(), o == 1 ? 0u : 1u);
        // Written again the image stands as it is seen.
        const std::string path = folder.file("again.jpg");
        format_for_output(path)->write(path, pages_of(copy_of(read.pages[0])), {});
        EXPECT_EQ(read_file(path).pages[0].desc().extent, expected);
      }
}

TEST(JpegOrientation, DamagedExifIsNoOrientation) {
  const Folder folder;
  const std::string good = exif_of(6, false);
  for (std::size_t n = 0; n <= good.size(); n += 3) {
    JpegSettings s;
    s.exif = std::string("Exif\0\0", 6) + good.substr(0, n);
    EXPECT_EQ(read_bytes(folder, jpeg(8, 8, white_corner(8, 8, 3), s)).pages.size(), 1u);
  }
}

TEST(JpegInks, ArePureRedWithAndWithoutAdobesMarker) {
  const Folder folder;
  for (bool adobe : {false, true})
    for (J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
      if (stored == JCS_YCCK && !adobe) continue;  // only Adobe's marker tells YCCK
      // Adobe stores inks inverted: 255 is none.
      const std::string red = adobe ? std::string("\xff\0\0\xff", 4) : std::string("\0\xff\xff\0", 4);
      std::string pixels;
      for (int i = 0; i < 256; ++i) pixels += red;
      JpegSettings s{.in = JCS_CMYK, .stored = stored, .adobe = adobe};
      const ReadResult read = read_bytes(folder, jpeg(16, 16, pixels, s));
      ASSERT_EQ(read.pages[0].desc().channels, 3);
      EXPECT_NEAR(sample(read.pages[0], 8, 8, 0, 0), 255, 3) << adobe << stored;
      EXPECT_NEAR(sample(read.pages[0], 8, 8, 0, 1), 0, 3) << adobe << stored;
      EXPECT_NEAR(sample(read.pages[0], 8, 8, 0, 2), 0, 3) << adobe << stored;
      EXPECT_EQ(read.notes, (std::vector<std::string>{"CMYK converted to RGB"}));
    }
}

TEST(JpegCodings, GiveTheSamePixels) {
  const Folder folder;
  std::string pixels;
  for (int i = 0; i < 32 * 24; ++i)
    for (int c = 0; c < 3; ++c) pixels += static_cast<char>(4 * (i % 32) + 3 * (i / 32) + 30 * c);
  const Numbers baseline = samples(read_bytes(folder, jpeg(32, 24, pixels, {})).pages[0]);
  const JpegSettings others[] = {{.progressive = true}, {.arithmetic = true}, {.stored = JCS_RGB}};
  for (const JpegSettings& s : others) {
    const Numbers values = samples(read_bytes(folder, jpeg(32, 24, pixels, s)).pages[0]);
    ASSERT_EQ(values.size(), baseline.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], baseline[i], 2) << s.progressive << s.arithmetic << s.stored;
  }
}

TEST(JpegCodings, LosslessAndTwelveBitsAreRefusedByName) {
  const Folder folder;
  std::string bytes = jpeg(16, 16, white_corner(16, 16, 3), {});
  const std::size_t frame = bytes.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  std::string lossless = bytes, deep = bytes;
  lossless[frame + 1] = '\xc3';
  deep[frame + 4] = 12;
  EXPECT_NE(refusal_of(folder, lossless).find("lossless JPEG (SOF3)"), std::string::npos);
  EXPECT_NE(refusal_of(folder, deep).find("not 8-bit"), std::string::npos) << refusal_of(folder, deep);
}

TEST(JpegSize, ThatIsAbsurdIsRefused) {
  const Folder folder;
  std::string bytes = jpeg(16, 16, white_corner(16, 16, 3), {});
  const std::size_t frame = bytes.find("\xff\xc0");
  bytes.replace(frame + 5, 4, number(65000, 2, true) + number(65000, 2, true));
  EXPECT_NE(refusal_of(folder, bytes).find("cannot hold"), std::string::npos) << refusal_of(folder, bytes);
}

TEST(JpegFacts, DensityIsSpacingAndAProfileIsNoted) {
  const Folder folder;
  JpegSettings s{.density_unit = 1, .density = 300, .profile = std::string("ICC_PROFILE\0\1\1", 14) + "profile"};
  const ReadResult read = read_bytes(folder, jpeg(16, 16, white_corner(16, 16, 3), s));
  EXPECT_NEAR(read.pages[0].desc().geometry.spacing[0], 25.4 / 300, 1e-12);
  EXPECT_EQ(read.pages[0].desc().geometry.unit, "mm");
  EXPECT_EQ(read.notes, (std::vector<std::string>{"ICC profile not kept"}));
  const std::string path = folder.file("density.jpg");
  format_for_output(path)->write(path, pages_of(copy_of(read.pages[0])), {});
  EXPECT_NEAR(read_file(path).pages[0].desc().geometry.spacing[1], 25.4 / 300, 1e-12);
}

// ---- PNG by hand

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto check = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return number(data.size(), 4, true) + body + number(check, 4, true);
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  out.resize(size);
  return out;
}

std::string png(int width, int height, int bits, int colour, const std::string& rows, const std::string& before = "",
                const std::string& after = "") {
  const std::string header = number(static_cast<std::uint32_t>(width), 4, true) +
                             number(static_cast<std::uint32_t>(height), 4, true) + static_cast<char>(bits) +
                             static_cast<char>(colour) + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + before + chunk("IDAT", deflated(rows)) + after +
         chunk("IEND", "");
}

TEST(PngPalette, MissingTransparencyIsOpaque) {
  const Folder folder;
  const std::string palette("\x0a\x14\x1e\x28\x32\x3c\x46\x50\x5a\x64\x6e\x78", 12);
  const std::string colours = chunk("PLTE", palette), row("\0\0\1\2\3", 5);
  EXPECT_EQ(
      samples(read_bytes(folder, png(4, 1, 8, 3, row, colours + chunk("tRNS", std::string("\0\x80", 2)))).pages[0]),
      (Numbers{10, 20, 30, 0, 40, 50, 60, 128, 70, 80, 90, 255, 100, 110, 120, 255}));
  const ReadResult opaque = read_bytes(folder, png(4, 1, 8, 3, row, colours));
  EXPECT_EQ(samples(opaque.pages[0]), (Numbers{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120}));
  EXPECT_EQ(samples(read_bytes(folder, png(4, 1, 2, 3, std::string("\0\x1b", 2), colours)).pages[0]),
            samples(opaque.pages[0]));
}

TEST(PngSamples, OfFewBitsAndColourKeys) {
  const Folder folder;
  EXPECT_EQ(samples(read_bytes(folder, png(8, 1, 1, 0, std::string("\0\xa0", 2))).pages[0]),
            (Numbers{255, 0, 255, 0, 0, 0, 0, 0}));
  EXPECT_EQ(samples(read_bytes(folder, png(4, 1, 2, 0, std::string("\0\x1b", 2))).pages[0]),
            (Numbers{0, 85, 170, 255}));
  const ReadResult keyed =
      read_bytes(folder, png(2, 1, 8, 0, std::string("\0\x07\x09", 3), chunk("tRNS", std::string("\0\x09", 2))));
  EXPECT_TRUE(keyed.pages[0].desc().alpha);
  EXPECT_EQ(samples(keyed.pages[0]), (Numbers{7, 255, 9, 0}));
  EXPECT_EQ(samples(read_bytes(folder, png(2, 1, 16, 0, std::string("\0\x01\x02\xff\xff", 5))).pages[0]),
            (Numbers{258, 65535}));
}

TEST(PngOrientation, IsAppliedAndDropped) {
  const Folder folder;
  std::string rows;
  const std::string pixels = white_corner(32, 16, 1);
  for (int y = 0; y < 16; ++y) rows += '\0' + pixels.substr(static_cast<std::size_t>(32 * y), 32);
  for (int o = 1; o <= 8; ++o)
    for (bool behind : {false, true}) {
      const std::string exif = chunk("eXIf", exif_of(o, o % 2));
      const ReadResult read = read_bytes(folder, png(32, 16, 8, 0, rows, behind ? "" : exif, behind ? exif : ""));
      EXPECT_EQ(read.pages[0].desc().extent, o < 5 ? (Extent{32, 16, 1}) : (Extent{16, 32, 1})) << o;
      EXPECT_EQ(bright_quarter(read.pages[0]), quarter_of_orientation[o - 1]) << o;
    }
}

TEST(PngSize, ThatIsAbsurdIsRefused) {
  const Folder folder;
  EXPECT_NE(refusal_of(folder, png(65536, 65536, 8, 2, "")), "");
  EXPECT_NE(refusal_of(folder, png(0x7fffffff, 0x7fffffff, 16, 6, "")), "");
  EXPECT_NE(refusal_of(folder, png(0, 5, 8, 0, "")), "");
}

TEST(PngFacts, AProfileIsNoted) {
  const Folder folder;
  const std::string profile = chunk("iCCP", std::string("p\0\0", 3) + deflated("not a profile"));
  EXPECT_EQ(read_bytes(folder, png(1, 1, 8, 0, std::string("\0\x07", 2), profile)).notes,
            (std::vector<std::string>{"ICC profile not kept"}));
}

}  // namespace
}  // namespace imgpipe::test
