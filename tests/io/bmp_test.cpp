// BMP: every header and pixel layout, made by hand; run lengths; files that lie; OpenCV both ways.
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>

#include "tests/io/files.h"

namespace imgpipe::test {
namespace {

using Values = std::vector<double>;

struct Bmp {
  int width = 1, height = 1, bits = 24, compression = 0, header = 40, colours = 0, per_metre = 0;
  std::string behind_header;  ///< masks of a short header
  std::string masks;          ///< within a long header
  std::string palette, pixels;

  std::string bytes() const {
    std::string dib = little(header, 4);
    if (header == 12) {
      dib += little(width, 2) + little(height, 2) + little(1, 2) + little(bits, 2);
    } else {
      dib += little(width, 4) + little(height, 4) + little(1, 2) + little(bits, 2) + little(compression, 4) +
             little(0, 4) + little(per_metre, 4) + little(per_metre, 4) + little(colours, 4) + little(0, 4) + masks;
      dib.resize(static_cast<std::size_t>(header), '\0');
    }
    dib += behind_header + palette;
    return "BM" + little(14 + dib.size() + pixels.size(), 4) + little(0, 4) + little(14 + dib.size(), 4) + dib + pixels;
  }
};

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

std::string gray_palette(int entries, int step) {
  std::string text;
  for (int i = 0; i < entries; ++i) text += little(i * step * 0x010101, 4);
  return text;
}

const std::string red_and_blue = bytes_of({1, 2, 250, 0, 251, 3, 4, 0});  // (250,2,1) and (4,3,251)

TEST(Bmp, TwentyFourBitsAreReadFromTheBottomUpAndFromTheTopDown) {
  Bmp bmp{.width = 1, .height = 2, .pixels = bytes_of({1, 2, 3, 0, 4, 5, 6, 0})};
  EXPECT_EQ(samples(read_bytes(bmp.bytes()).pages[0]), (Values{6, 5, 4, 3, 2, 1}));
  bmp.height = -2;
  EXPECT_EQ(samples(read_bytes(bmp.bytes()).pages[0]), (Values{3, 2, 1, 6, 5, 4}));
  bmp.height = 2;
  for (int header : {12, 52, 56, 64, 108, 124}) {
    bmp.header = header;
    EXPECT_EQ(samples(read_bytes(bmp.bytes()).pages[0]), (Values{6, 5, 4, 3, 2, 1})) << header;
  }
}

TEST(Bmp, PalettesOfOneTwoFourAndEightBits) {
  const Values colours = {4, 3, 251, 250, 2, 1, 4, 3, 251};
  const std::pair<int, std::string> rows[] = {{1, bytes_of({0xa0, 0, 0, 0})},
                                              {2, bytes_of({0x44, 0, 0, 0})},
                                              {4, bytes_of({0x10, 0x10, 0, 0})},
                                              {8, bytes_of({1, 0, 1, 0})}};
  for (const auto& [bits, row] : rows) {
    Bmp bmp{.width = 3, .bits = bits, .colours = 2, .palette = red_and_blue, .pixels = row};
    const ReadResult read = read_bytes(bmp.bytes());
    EXPECT_EQ(samples(read.pages[0]), colours) << bits;
    ASSERT_EQ(read.notes.size(), 1u);
    EXPECT_EQ(read.notes[0], "palette expanded to RGB");
  }
  const Bmp core{.width = 3,
                 .bits = 8,
                 .header = 12,
                 .palette = bytes_of({1, 2, 250, 251, 3, 4}),
                 .pixels = bytes_of({1, 0, 1, 0})};
  EXPECT_EQ(samples(read_bytes(core.bytes()).pages[0]), colours);
}

TEST(Bmp, PalettesOfGraysAreGray) {
  Bmp ramp{.width = 3, .bits = 8, .palette = gray_palette(256, 1), .pixels = bytes_of({7, 0, 255, 0})};
  ReadResult read = read_bytes(ramp.bytes());
  EXPECT_EQ(samples(read.pages[0]), (Values{7, 0, 255}));
  EXPECT_TRUE(read.notes.empty());
  const Bmp bitmap{.width = 3, .bits = 1, .palette = gray_palette(2, 255), .pixels = bytes_of({0x40, 0, 0, 0})};
  read = read_bytes(bitmap.bytes());
  EXPECT_EQ(samples(read.pages[0]), (Values{0, 255, 0}));
  EXPECT_EQ(read.notes.size(), 1u);
}

TEST(Bmp, SixteenAndThirtyTwoBitsFollowTheirMasks) {
  const std::string red_half = little(0x7c00 | 16, 2) + little(0, 2);
  EXPECT_EQ(samples(read_bytes(Bmp{.bits = 16, .pixels = red_half}.bytes()).pages[0]), (Values{255, 0, 132}));
  const std::string masks565 = little(0xf800, 4) + little(0x7e0, 4) + little(0x1f, 4);
  const std::string pixel565 = little(0xf800 | 32 << 5 | 1, 2) + little(0, 2);
  const Values rgb565 = {255, 130, 8};
  EXPECT_EQ(samples(read_bytes(Bmp{.bits = 16, .compression = 3, .behind_header = masks565, .pixels = pixel565}.bytes())
                        .pages[0]),
            rgb565);
  EXPECT_EQ(
      samples(read_bytes(Bmp{.bits = 16, .compression = 3, .header = 52, .masks = masks565, .pixels = pixel565}.bytes())
                  .pages[0]),
      rgb565);
  const std::string ten = little(0x3ff00000, 4) + little(0xffc00, 4) + little(0x3ff, 4);
  const ReadResult read = read_bytes(
      Bmp{.bits = 32, .compression = 3, .behind_header = ten, .pixels = little(1023u << 20 | 512 << 10 | 3, 4)}
          .bytes());
  EXPECT_EQ(samples(read.pages[0]), (Values{255, 128, 1}));
  EXPECT_EQ(read.notes.size(), 1u);
}

TEST(Bmp, AlphaIsReadWhereAMaskDeclaresIt) {
  const std::string pixel = bytes_of({1, 2, 3, 4});
  const ReadResult plain = read_bytes(Bmp{.bits = 32, .pixels = pixel}.bytes());
  EXPECT_EQ(plain.pages[0].desc().channels, 3);
  EXPECT_EQ(samples(plain.pages[0]), (Values{3, 2, 1}));
  const std::string rgb = little(0xff0000, 4) + little(0xff00, 4) + little(0xff, 4), alpha = little(0xff000000, 4);
  EXPECT_FALSE(read_bytes(Bmp{.bits = 32, .compression = 3, .behind_header = rgb, .pixels = pixel}.bytes())
                   .pages[0]
                   .desc()
                   .alpha);
  EXPECT_FALSE(read_bytes(Bmp{.bits = 32, .header = 124, .masks = rgb, .pixels = pixel}.bytes()).pages[0].desc().alpha);
  for (const Bmp& bmp : {Bmp{.bits = 32, .compression = 6, .behind_header = rgb + alpha, .pixels = pixel},
                         Bmp{.bits = 32, .compression = 3, .header = 56, .masks = rgb + alpha, .pixels = pixel},
                         Bmp{.bits = 32, .compression = 3, .header = 108, .masks = rgb + alpha, .pixels = pixel},
                         Bmp{.bits = 32, .compression = 0, .header = 124, .masks = rgb + alpha, .pixels = pixel}}) {
    const ReadResult read = read_bytes(bmp.bytes());
    EXPECT_TRUE(read.pages[0].desc().alpha);
    EXPECT_EQ(samples(read.pages[0]), (Values{3, 2, 1, 4}));
  }
}

Bmp rle(int bits, const std::vector<int>& data) {
  Bmp bmp{.width = 5,
          .height = 2,
          .bits = bits,
          .compression = bits == 8 ? 1 : 2,
          .colours = 16,
          .palette = gray_palette(16, 1)};
  for (int v : data) bmp.pixels += static_cast<char>(v);
  return bmp;
}

TEST(Bmp, RunLengthsOfEightBits) {
  const Values expected = {9, 8, 7, 6, 5, 1, 1, 1, 2, 2};
  for (const auto& data : std::vector<std::vector<int>>{{3, 1, 2, 2, 0, 0, 0, 5, 9, 8, 7, 6, 5, 0, 0, 1},
                                                        {3, 1, 2, 2, 0, 0, 0, 5, 9, 8, 7, 6, 5, 0},
                                                        {3, 1, 2, 2, 0, 0, 0, 4, 9, 8, 7, 6, 1, 5, 0, 0, 0, 1},
                                                        {3, 1, 0, 2, 0, 0, 2, 2, 0, 0, 0, 5, 9, 8, 7, 6, 5, 0, 0, 1}}) {
    const ReadResult read = read_bytes(rle(8, data).bytes());
    EXPECT_EQ(samples(read.pages[0]), expected);
    EXPECT_TRUE(read.warnings.empty());
  }
}

TEST(Bmp, RunLengthsOfFourBits) {
  const ReadResult read = read_bytes(rle(4, {5, 0x12, 0, 0, 0, 5, 0x98, 0x76, 0x50, 0, 0, 1}).bytes());
  EXPECT_EQ(samples(read.pages[0]), (Values{9, 8, 7, 6, 5, 1, 2, 1, 2, 1}));
  EXPECT_TRUE(read.warnings.empty());
}

TEST(Bmp, SkippedPixelsOfRunLengthsAreWarnedOf) {
  for (const auto& data : std::vector<std::vector<int>>{
           {0, 2, 2, 0, 1, 3, 0, 1}, {0, 0, 5, 4, 0, 1}, {0, 2, 1, 1, 1, 3, 0, 1}, {5, 1, 0, 1}})
    EXPECT_EQ(read_bytes(rle(8, data).bytes()).warnings.size(), 1u);
  EXPECT_EQ(samples(read_bytes(rle(8, {0, 2, 2, 1, 1, 3, 0, 1}).bytes()).pages[0]),
            (Values{0, 0, 3, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Bmp, RunLengthsThatLeaveTheImageAreRefused) {
  for (const auto& data : std::vector<std::vector<int>>{{6, 1, 0, 1},
                                                        {0, 6, 1, 1, 1, 1, 1, 1, 0, 1},
                                                        {0, 2, 6, 0, 0, 1},
                                                        {0, 2, 0, 3, 0, 1},
                                                        {0, 0, 0, 0, 0, 0, 0, 1},
                                                        {5, 1, 0, 0, 4, 1},
                                                        {},
                                                        {5, 1},
                                                        {0},
                                                        {0, 2, 1},
                                                        {0, 0, 0, 0, 1, 1, 0, 1},
                                                        {5, 16, 0, 1}})
    EXPECT_NE(why_not(rle(8, data).bytes()), "");
  Bmp top_down = rle(8, {5, 1, 0, 0, 5, 1, 0, 1});
  top_down.height = -2;
  EXPECT_NE(why_not(top_down.bytes()), "");
  Bmp bomb = rle(8, {0, 1});
  bomb.width = bomb.height = 50000;
  EXPECT_NE(why_not(bomb.bytes()), "");
}

TEST(Bmp, ResolutionIsTheSpacing) {
  const Folder folder;
  const ReadResult read = read_bytes(Bmp{.per_metre = 4000, .pixels = bytes_of({1, 2, 3, 0})}.bytes());
  EXPECT_EQ(read.pages[0].desc().geometry, (Geometry{{0.25, 0.25, 1}, {0, 0, 0}, "mm"}));
  const std::string path = folder.file("a.bmp");
  for (int channels : {1, 3, 4}) {
    Image image = random_image(make_desc(DType::u8, {3, 2}, channels, channels == 4), 1);
    image.desc().geometry = {{0.5, 0.25, 1}, {0, 0, 0}, "um"};
    format_for_output(path)->write(path, pages_of(copy_of(image)), {});
    EXPECT_EQ(read_file(path).pages[0].desc().geometry, (Geometry{{0.0005, 0.00025, 1}, {0, 0, 0}, "mm"}));
  }
}

TEST(Bmp, ADroppedProfileIsWarnedOf) {
  const std::string pixel = bytes_of({1, 2, 3, 0}), srgb = little(0x73524742, 4), embedded = little(0x4d424544, 4);
  EXPECT_TRUE(
      read_bytes(Bmp{.header = 124, .masks = std::string(16, '\0') + srgb, .pixels = pixel}.bytes()).warnings.empty());
  EXPECT_EQ(read_bytes(Bmp{.header = 124, .masks = std::string(16, '\0') + embedded, .pixels = pixel}.bytes())
                .warnings.size(),
            1u);
}

TEST(Bmp, HeadersThatLieAreRefused) {
  const std::string pixel = bytes_of({1, 2, 3, 0});
  for (const Bmp& bmp :
       {Bmp{.width = 0, .pixels = pixel}, Bmp{.width = -1, .pixels = pixel}, Bmp{.height = 0, .pixels = pixel},
        Bmp{.width = 0x7fffffff, .height = 0x7fffffff, .pixels = pixel},
        Bmp{.width = 65536, .height = 65536, .pixels = pixel}, Bmp{.height = int(0x80000000), .pixels = pixel},
        Bmp{.bits = 3, .pixels = pixel}, Bmp{.bits = 0, .pixels = pixel}, Bmp{.bits = 64, .pixels = pixel},
        Bmp{.compression = 1, .pixels = pixel}, Bmp{.compression = 4, .pixels = pixel},
        Bmp{.compression = 5, .pixels = pixel}, Bmp{.compression = 7, .pixels = pixel},
        Bmp{.header = 41, .pixels = pixel}, Bmp{.bits = 8, .pixels = pixel},
        Bmp{.bits = 8, .colours = 2, .palette = red_and_blue, .pixels = bytes_of({2, 0, 0, 0})},
        Bmp{.bits = 32, .compression = 3, .behind_header = std::string(12, '\0'), .pixels = pixel},
        Bmp{.bits = 32, .compression = 3, .behind_header = little(5, 4) + std::string(8, '\0'), .pixels = pixel}})
    EXPECT_NE(why_not(bmp.bytes()), "");
}

TEST(Bmp, EveryPrefixIsRefusedAndNoByteCrashes) {
  const Folder folder;
  const std::string path = folder.file("a");
  const std::string rgb = little(0xff0000, 4) + little(0xff00, 4) + little(0xff, 4);
  for (const Bmp& bmp :
       {Bmp{.width = 2, .height = 2, .pixels = std::string(16, 'a')},
        Bmp{.width = 3, .bits = 4, .colours = 2, .palette = red_and_blue, .pixels = bytes_of({0x10, 0x10, 0, 0})},
        Bmp{.bits = 32, .compression = 3, .header = 108, .masks = rgb + little(0xff000000, 4), .pixels = "abcd"},
        rle(8, {3, 1, 2, 2, 0, 0, 0, 5, 9, 8, 7, 6, 5, 0, 0, 1}), rle(4, {5, 0x12, 0, 0, 5, 0x98, 0, 1})}) {
    // A whole image of run lengths may lack its last marker.
    const std::string good =
        bmp.compression == 1 || bmp.compression == 2 ? bmp.bytes().substr(0, bmp.bytes().size() - 2) : bmp.bytes();
    put(path, good);
    EXPECT_EQ(refusal_of(path), "");
    expect_every_prefix_refused(path, good);
    survive_every_flipped_byte(path, good);
  }
}

TEST(Bmp, IsReadAndWrittenAlikeByOpenCv) {
  const Folder folder;
  for (int channels : {1, 3, 4}) {
    const Image image = random_image(make_desc(DType::u8, {19, 13}, channels, channels == 4), 4);
    const std::string path = folder.file("ours.bmp"), theirs = folder.file("theirs.bmp");
    format_for_output(path)->write(path, pages_of(copy_of(image)), {});
    const cv::Mat mat = cv::imread(path, cv::IMREAD_UNCHANGED);
    ASSERT_EQ(mat.type(), CV_MAKETYPE(CV_8U, channels));
    for (int y = 0; y < 13; ++y)
      for (int x = 0; x < 19; ++x)
        for (int c = 0; c < channels; ++c) {
          const int bgr = channels > 1 && c < 3 ? 2 - c : c;
          ASSERT_EQ(mat.ptr(y)[x * channels + bgr], sample(image, x, y, 0, c)) << channels;
        }
    ASSERT_TRUE(cv::imwrite(theirs, mat));
    const ReadResult read = read_file(theirs);
    if (channels < 4) {
      EXPECT_EQ(difference(read.pages[0], image), "") << channels;
      continue;
    }
    // OpenCV 4.6 writes the bytes of alpha, but does not declare them.
    EXPECT_EQ(read.notes.size(), 1u);
    for (int x = 0; x < 19; ++x)
      for (int c = 0; c < 3; ++c) EXPECT_EQ(sample(read.pages[0], x, 7, 0, c), sample(image, x, 7, 0, c));
  }
}

}  // namespace
}  // namespace imgpipe::test
