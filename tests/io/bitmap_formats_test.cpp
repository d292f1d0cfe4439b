// BMP, the Netpbm formats and WebP: against OpenCV, and files written by hand for what OpenCV does not write.
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/io/files.h"

namespace imgpipe::test {
namespace {

using Numbers = std::vector<double>;

double of_opencv(const cv::Mat& mat, int x, int y, int c) {
  const int channels = mat.channels(), at = x * channels + (channels >= 3 && c < 3 ? 2 - c : c);  // BGR
  return mat.depth() == CV_8U ? mat.ptr<std::uint8_t>(y)[at] : mat.ptr<std::uint16_t>(y)[at];
}

void expect_alike(const cv::Mat& mat, const Image& image, double corridor, const std::string& what) {
  ASSERT_EQ(mat.cols, image.desc().extent.width) << what;
  ASSERT_EQ(mat.rows, image.desc().extent.height) << what;
  ASSERT_EQ(mat.channels(), image.desc().channels) << what;
  for (int y = 0; y < mat.rows; ++y)
    for (int x = 0; x < mat.cols; ++x)
      for (int c = 0; c < mat.channels(); ++c)
        ASSERT_NEAR(of_opencv(mat, x, y, c), sample(image, x, y, 0, c), corridor) << what << " at " << x << "," << y;
}

struct Shared {
  const char* suffix;
  DType dtype;
  int channels;
};
const Shared shared_with_opencv[] = {{".bmp", DType::u8, 1},  {".bmp", DType::u8, 3},  {".bmp", DType::u8, 4},
                                     {".pgm", DType::u8, 1},  {".pgm", DType::u16, 1}, {".ppm", DType::u8, 3},
                                     {".ppm", DType::u16, 3}, {".webp", DType::u8, 3}, {".webp", DType::u8, 4}};

TEST(BitmapFormats, AreReadAlikeByOpenCv) {
  const Folder folder;
  for (const Shared& f : shared_with_opencv) {
    const Image image = random_image(make_desc(f.dtype, {37, 23}, f.channels, f.channels == 4), 5);
    const std::string path = folder.file(std::string("ours") + f.suffix);
    format_for_output(path)->write(path, pages_of(copy_of(image)), {.quality = 100});
    expect_alike(cv::imread(path, cv::IMREAD_UNCHANGED), image, 0, path);
  }
}

TEST(BitmapFormats, WrittenByOpenCvAreReadAlike) {
  const Folder folder;
  for (const Shared& f : shared_with_opencv) {
    cv::Mat mat(19, 27, CV_MAKETYPE(f.dtype == DType::u8 ? CV_8U : CV_16U, f.channels));
    cv::randu(mat, 0, 200);
    const std::string path = folder.file(std::string("theirs") + f.suffix);
    ASSERT_TRUE(cv::imwrite(path, mat, {cv::IMWRITE_WEBP_QUALITY, 101}));
    // OpenCV writes no mask for alpha, and without one the fourth byte is padding.
    if (std::string(f.suffix) == ".bmp" && f.channels == 4) cv::cvtColor(mat, mat, cv::COLOR_BGRA2BGR);
    expect_alike(mat, read_file(path).pages[0], 0, path);
  }
}

TEST(WebP, LossyOfSmoothImagesIsClose) {
  const Folder folder;
  Image image(make_desc(DType::u8, {64, 48}, 3));
  for (int i = 0; i < 64 * 48 * 3; ++i)
    image.samples<std::uint8_t>()[i] = static_cast<std::uint8_t>(i / 3 % 64 * 2 + i / 192 + 20 * (i % 3));
  const std::string path = folder.file("a.webp");
  format_for_output(path)->write(path, pages_of(copy_of(image)), {.quality = 90});
  const Image back = copy_of(read_file(path).pages[0]);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      for (int c = 0; c < 3; ++c) ASSERT_NEAR(sample(back, x, y, 0, c), sample(image, x, y, 0, c), 12);
}

TEST(BitmapFormats, AreRefusedAtEveryLength) {
  const Folder folder;
  for (const char* suffix : {".bmp", ".pgm", ".ppm", ".pam", ".webp"}) {
    const int channels = std::string(suffix) == ".pgm" ? 1 : 3;
    const std::string path = folder.file(std::string("whole") + suffix);
    const Image image = random_image(make_desc(DType::u8, {16, 9}, channels), 9);
    format_for_output(path)->write(path, pages_of(copy_of(image)), {.quality = 100});
    const std::string bytes = get(path);
    for (std::size_t n = 0; n < bytes.size(); ++n)
      ASSERT_NE(refusal_of(folder, bytes.substr(0, n)), "") << suffix << " cut to " << n;
  }
}

TEST(BitmapFormats, DamagedBytesNeverCrash) {
  const Folder folder;
  for (const char* suffix : {".bmp", ".pam", ".webp"}) {
    const std::string path = folder.file(std::string("damaged") + suffix);
    const Image image = random_image(make_desc(DType::u8, {9, 5}, 3), 9);
    format_for_output(path)->write(path, pages_of(copy_of(image)), {.quality = 100});
    const std::string bytes = get(path);
    for (std::size_t at = 0; at < std::min<std::size_t>(bytes.size(), 64); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ (1 << bit));
        refusal_of(folder, other);  // read or refused, nothing else
      }
  }
}

// ---- BMP by hand

struct Bmp {
  int width = 4, height = 2, bits = 8;
  std::uint32_t compression = 0;
  std::string palette, masks, pixels;
  std::string bytes() const {
    const std::string info = number(40, 4) + number(static_cast<std::uint32_t>(width), 4) +
                             number(static_cast<std::uint32_t>(height), 4) + number(1, 2) + number(bits, 2) +
                             number(compression, 4) + number(pixels.size(), 4) + number(2000, 4) + number(4000, 4) +
                             number(palette.size() / 4, 4) + number(0, 4) + masks + palette;
    return "BM" + number(14 + info.size() + pixels.size(), 4) + number(0, 4) + number(14 + info.size(), 4) + info +
           pixels;
  }
};
const std::string four_colours = number(0x0a141e, 4) + number(0x28323c, 4) + number(0x46505a, 4) + number(0xffffff, 4);

TEST(Bmp, PalettesOfOneFourAndEightBits) {
  const Folder folder;
  Bmp bmp{.width = 3, .height = 1, .bits = 1, .palette = number(0x112233, 4) + number(0xffffff, 4)};
  bmp.pixels = std::string("\x40\0\0\0", 4);
  EXPECT_EQ(samples(read_bytes(folder, bmp.bytes()).pages[0]), (Numbers{17, 34, 51, 255, 255, 255, 17, 34, 51}));
  bmp = {.width = 3, .height = 2, .bits = 4, .palette = four_colours};
  bmp.pixels = std::string("\x01\x20\0\0\x33\x30\0\0", 8);
  const ReadResult read = read_bytes(folder, bmp.bytes());
  EXPECT_EQ(samples(read.pages[0]),
            (Numbers{255, 255, 255, 255, 255, 255, 255, 255, 255, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
  EXPECT_DOUBLE_EQ(read.pages[0].desc().geometry.spacing[0], 0.5);
  EXPECT_DOUBLE_EQ(read.pages[0].desc().geometry.spacing[1], 0.25);
  bmp = {.width = 2, .height = -1, .palette = number(0x050505, 4) + number(0x090909, 4)};
  bmp.pixels = std::string("\1\0\0\0", 4);
  EXPECT_EQ(samples(read_bytes(folder, bmp.bytes()).pages[0]), (Numbers{9, 5}));
  bmp.pixels[0] = 2;
  EXPECT_NE(refusal_of(folder, bmp.bytes()).find("not in its palette"), std::string::npos);
}

TEST(Bmp, RunLengths) {
  const Folder folder;
  const std::string grays = number(0, 4) + number(0x010101, 4) + number(0x020202, 4) + number(0x030303, 4);
  Bmp bmp{.compression = 1, .palette = grays};
  // Bottom row: 3 times 1, end of line; top row: 3 literal, and the end.
  bmp.pixels = std::string("\3\1\0\0\0\3\2\3\1\0\0\1", 12);
  EXPECT_EQ(samples(read_bytes(folder, bmp.bytes()).pages[0]), (Numbers{2, 3, 1, 0, 1, 1, 1, 0}));
  // A jump of one right and one up.
  bmp.pixels = std::string("\0\2\1\1\2\3\0\1", 8);
  EXPECT_EQ(samples(read_bytes(folder, bmp.bytes()).pages[0]), (Numbers{0, 3, 3, 0, 0, 0, 0, 0}));
  bmp.pixels = std::string("\5\1\0\1", 4);
  EXPECT_NE(refusal_of(folder, bmp.bytes()).find("leaves the image"), std::string::npos);
  bmp.pixels = std::string("\2\1", 2);
  EXPECT_NE(refusal_of(folder, bmp.bytes()).find("truncated"), std::string::npos);
  bmp = {.bits = 4, .compression = 2, .palette = grays};
  bmp.pixels = std::string("\4\x12\0\0\0\3\x31\x20\0\1", 10);
  EXPECT_EQ(samples(read_bytes(folder, bmp.bytes()).pages[0]), (Numbers{3, 1, 2, 0, 1, 2, 1, 2}));
}

TEST(Bmp, BitFieldsAndAlpha) {
  const Folder folder;
  Bmp bmp{.width = 2, .height = 1, .bits = 16};
  bmp.pixels = number(0x7c1f, 2) + number(0x03e0, 2);  // 5 bits each
  EXPECT_EQ(samples(read_bytes(folder, bmp.bytes()).pages[0]), (Numbers{255, 0, 255, 0, 255, 0}));
  bmp.compression = 3;
  bmp.masks = number(0xf800, 4) + number(0x07e0, 4) + number(0x001f, 4);
  bmp.pixels = number(0xf800, 2) + number(0x07e0, 2);
  EXPECT_EQ(samples(read_bytes(folder, bmp.bytes()).pages[0]), (Numbers{255, 0, 0, 0, 255, 0}));
  bmp = {.width = 1, .height = 1, .bits = 32};
  bmp.pixels = number(0x80112233, 4);  // without a mask the last byte means nothing
  EXPECT_EQ(samples(read_bytes(folder, bmp.bytes()).pages[0]), (Numbers{0x11, 0x22, 0x33}));
  bmp.compression = 6;
  bmp.masks = number(0xff, 4) + number(0xff00, 4) + number(0xff0000, 4) + number(0xff000000, 4);
  const ReadResult read = read_bytes(folder, bmp.bytes());
  EXPECT_TRUE(read.pages[0].desc().alpha);
  EXPECT_EQ(samples(read.pages[0]), (Numbers{0x33, 0x22, 0x11, 0x80}));
}

TEST(Bmp, OfOs2) {
  const Folder folder;
  const std::string pixels = std::string("\3\2\1\6\5\4\0\0", 8);
  const std::string bytes = "BM" + number(26 + 8, 4) + number(0, 4) + number(26, 4) + number(12, 4) + number(2, 2) +
                            number(1, 2) + number(1, 2) + number(24, 2) + pixels;
  EXPECT_EQ(samples(read_bytes(folder, bytes).pages[0]), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST(Bmp, OfAbsurdSizeIsRefused) {
  const Folder folder;
  Bmp bmp{.width = 0x7fffffff, .height = 0x7fffffff, .bits = 24, .pixels = std::string(100, 0)};
  EXPECT_NE(refusal_of(folder, bmp.bytes()), "");
  bmp = {.width = 60000, .height = 60000, .compression = 1, .palette = four_colours, .pixels = std::string(100, 0)};
  EXPECT_NE(refusal_of(folder, bmp.bytes()), "");
}

// ---- Netpbm by hand

TEST(Pnm, AsText) {
  const Folder folder;
  EXPECT_EQ(samples(read_bytes(folder, "P2\n# a comment\n3 2 # another\n15\n0 1 2\n13 14 15\n").pages[0]),
            (Numbers{0, 1, 2, 13, 14, 15}));
  EXPECT_EQ(samples(read_bytes(folder, "P1 4 1\n0110").pages[0]), (Numbers{255, 0, 0, 255}));
  const ReadResult rgb = read_bytes(folder, "P3 1 2 1000 1 2 3 # c\n 998 999 1000");
  EXPECT_EQ(rgb.pages[0].desc().dtype, DType::u16);
  EXPECT_EQ(samples(rgb.pages[0]), (Numbers{1, 2, 3, 998, 999, 1000}));
  EXPECT_NE(refusal_of(folder, "P2 2 1 9 1 10 ").find("over the maxval"), std::string::npos);
  EXPECT_NE(refusal_of(folder, "P2 2 1 9 1 x").find("not a number"), std::string::npos);
}

TEST(Pnm, KeepsValuesWhateverTheMaxval) {
  const Folder folder;
  const ReadResult read = read_bytes(folder, "P5 2 1 1023\n" + number(1023, 2, true) + number(7, 2, true));
  EXPECT_EQ(read.pages[0].desc().dtype, DType::u16);
  EXPECT_EQ(samples(read.pages[0]), (Numbers{1023, 7}));
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_NE(read.notes[0].find("maxval 1023"), std::string::npos);
  EXPECT_NE(refusal_of(folder, "P5 1 1 100\n\x65").find("over the maxval"), std::string::npos);
}

TEST(Pnm, BitmapsAreBlackAndWhite) {
  const Folder folder;
  EXPECT_EQ(samples(read_bytes(folder, std::string("P4 9 1\n\xa0\x80", 9)).pages[0]),
            (Numbers{0, 255, 0, 255, 255, 255, 255, 255, 0}));
}

TEST(Pnm, SeveralImagesArePages) {
  const Folder folder;
  const ReadResult read = read_bytes(folder, "P5 2 1 255\n\x01\x02P6 1 1 255\n\x03\x04\x05");
  ASSERT_EQ(read.pages.size(), 2u);
  EXPECT_EQ(samples(read.pages[0]), (Numbers{1, 2}));
  EXPECT_EQ(samples(read.pages[1]), (Numbers{3, 4, 5}));
  const ReadResult rest = read_bytes(folder, "P5 2 1 255\n\x01\x02garbage");
  EXPECT_EQ(rest.pages.size(), 1u);
  ASSERT_EQ(rest.warnings.size(), 1u);
  EXPECT_NE(rest.warnings[0].find("7 bytes behind"), std::string::npos);
}

TEST(Pnm, ArbitraryMaps) {
  const Folder folder;
  const std::string head = "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n";
  const ReadResult read = read_bytes(folder, head + "\x07\x80");
  EXPECT_TRUE(read.pages[0].desc().alpha);
  EXPECT_EQ(samples(read.pages[0]), (Numbers{7, 128}));
  EXPECT_NE(refusal_of(folder, "P7\nWIDTH 1\nHEIGHT 1\nENDHDR\n\x07"), "");
  EXPECT_NE(refusal_of(folder, "P7\nWIDHT 1\n"), "");
}

TEST(Pfm, OfBothByteOrdersFromTheBottomUp) {
  const Folder folder;
  const auto bits = [](float v, bool big) { return number(std::bit_cast<std::uint32_t>(v), 4, big); };
  for (bool big : {false, true}) {
    const std::string bytes = std::string("Pf\n1 2\n") + (big ? "1.0\n" : "-1.0\n") + bits(1.5f, big) + bits(-2, big);
    EXPECT_EQ(samples(read_bytes(folder, bytes).pages[0]), (Numbers{-2, 1.5})) << big;
  }
}

TEST(Pnm, SuffixesHoldWhatTheirNamesSay) {
  const auto why = [](const char* path, const ImageDesc& desc) {
    return format_for_output(path)->cannot_hold(path, desc, 1).value_or("");
  };
  EXPECT_EQ(why("a.pgm", make_desc(DType::u16, {2, 2})), "");
  EXPECT_NE(why("a.pgm", make_desc(DType::u8, {2, 2}, 3)), "");
  EXPECT_NE(why("a.PPM", make_desc(DType::u8, {2, 2})), "");
  EXPECT_NE(why("a.pnm", make_desc(DType::u8, {2, 2}, 4, true)), "");
  EXPECT_EQ(why("a.pam", make_desc(DType::u8, {2, 2}, 4, true)), "");
  EXPECT_NE(why("a.pfm", make_desc(DType::u8, {2, 2})), "");
  EXPECT_NE(why("a.ppm", make_desc(DType::f32, {2, 2}, 3)), "");
  EXPECT_NE(why("a.pbm", make_desc(DType::u8, {2, 2})), "");
  EXPECT_NE(why("a.bmp", make_desc(DType::u16, {2, 2})), "");
  EXPECT_NE(why("a.webp", make_desc(DType::u8, {2, 2})), "");
  EXPECT_NE(why("a.webp", make_desc(DType::u8, {20000, 2}, 3)), "");
}

}  // namespace
}  // namespace imgpipe::test
