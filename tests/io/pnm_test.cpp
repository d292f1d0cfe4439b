// PBM, PGM, PPM, PAM and PFM: every header that the formats allow, samples as stored, and files that lie.
#include <gtest/gtest.h>

#include <cstring>
#include <opencv2/imgcodecs.hpp>

#include "tests/io/files.h"

namespace imgpipe::test {
namespace {

using Values = std::vector<double>;

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

TEST(Pnm, TextIsReadWithCommentsAndAnyWhiteSpace) {
  for (const char* text : {"P2 3 2 255 1 2 3 4 5 6", "P2\n# made by hand\n3 2\n255\n1 2 3\n4 5 6\n",
                           "P2#c\n3#x\r2 # 7 8\n\t255\n\n 1\r\n2\v3\f4 5#end\n6 # last\n"}) {
    const ReadResult read = read_bytes(text);
    EXPECT_EQ(samples(read.pages[0]), (Values{1, 2, 3, 4, 5, 6})) << text;
    EXPECT_EQ(read.pages[0].desc().dtype, DType::u8);
    EXPECT_TRUE(read.notes.empty());
  }
  EXPECT_EQ(samples(read_bytes("P3 1 2 255 1 2 3 4 5 6").pages[0]), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(samples(read_bytes("P2 2 1 65535 65535 256").pages[0]), (Values{65535, 256}));
}

TEST(Pnm, OneWhiteSpaceEndsARawHeader) {
  // The samples themselves look like white space and a comment.
  EXPECT_EQ(samples(read_bytes("P5 3 1 255\n #\n").pages[0]), (Values{' ', '#', '\n'}));
  EXPECT_EQ(samples(read_bytes("P5\n#c\n1 1\n255\n\x80").pages[0]), (Values{128}));
}

TEST(Pnm, BitmapsAreBlackWhereTheyAreOne) {
  for (const std::string& bytes : {std::string("P1\n10 2\n1011111110\n0 1 0 0 0 0 0 0 0 1\n"),
                                   "P4\n10 2\n" + bytes_of({0xbf, 0xbf, 0x40, 0x7f})}) {
    const ReadResult read = read_bytes(bytes);
    EXPECT_EQ(samples(read.pages[0]), (Values{0,   255, 0,   0,   0,   0,   0,   0,   0,   255,  //
                                              255, 0,   255, 255, 255, 255, 255, 255, 255, 0}));
    ASSERT_EQ(read.notes.size(), 1u);
  }
}

TEST(Pnm, OtherMaxvalsKeepTheirSamples) {
  const ReadResult wide = read_bytes("P5 2 1 1023\n" + big(1023, 2) + big(256, 2));
  EXPECT_EQ(wide.pages[0].desc().dtype, DType::u16);
  EXPECT_EQ(samples(wide.pages[0]), (Values{1023, 256}));
  ASSERT_EQ(wide.notes.size(), 1u);
  EXPECT_NE(wide.notes[0].find("maxval 1023"), std::string::npos);
  const ReadResult narrow = read_bytes("P2 2 1 15 15 0");
  EXPECT_EQ(narrow.pages[0].desc().dtype, DType::u8);
  EXPECT_EQ(samples(narrow.pages[0]), (Values{15, 0}));
  EXPECT_EQ(samples(read_bytes("P5 2 1 256\n" + big(256, 2) + big(1, 2)).pages[0]), (Values{256, 1}));
}

TEST(Pnm, ImagesInARowArePages) {
  const ReadResult read = read_bytes("P5 2 1 255\nabP6 1 1 65535\n" + big(1, 2) + big(2, 2) + big(3, 2) + "\nP4 1 1\n" +
                                     std::string(1, '\x80') + "\n");
  ASSERT_EQ(read.pages.size(), 3u);
  EXPECT_EQ(samples(read.pages[0]), (Values{'a', 'b'}));
  EXPECT_EQ(samples(read.pages[1]), (Values{1, 2, 3}));
  EXPECT_EQ(samples(read.pages[2]), (Values{0}));
  EXPECT_TRUE(read.warnings.empty());
}

TEST(Pnm, OtherBytesBehindTheImageAreWarnedOf) {
  EXPECT_EQ(read_bytes("P5 2 1 255\nab\x01\x02\x03").warnings.size(), 1u);
  EXPECT_EQ(read_bytes("P2 1 1 255 7 8").warnings.size(), 1u);
  EXPECT_EQ(read_bytes("Pf 1 1 -1\n12345").warnings.size(), 1u);
}

TEST(Pnm, FilesThatLieAreRefused) {
  for (const char* bytes :
       {"P5 2 1 0\nab", "P5 2 1 65536\nabcd", "P5 0 1 255\n", "P5 2 0 255\n", "P5 -2 1 255\nab", "P5 2x 1 255\nab",
        "P5 99999999999999999999 1 255\na", "P2 2 1 10 5 11", "P2 2 1 255 5 5x", "P2 2 1 255 -5 5", "P1 2 1 02",
        "P5 2 1 255\nabP5 2 2 255\nabc", "P5 4000000000 4000000000 255\nab", "P2 100000 100000 255 1 2",
        "P1 100000 100000 1 0", "P4 1000000 1000000\nab", "P2 1 1 255 99999999999999999999999", "P5 2 1 100\n\xc8\xc8"})
    EXPECT_NE(why_not(bytes), "") << bytes;
}

TEST(Pnm, EveryPrefixIsRefusedAndNoByteCrashes) {
  const Folder folder;
  const std::string path = folder.file("a");
  const std::string good[] = {"P5 3 2 255\nabcdef",    "P6 1 2 65535\nabcdefghijkl",
                              "P4 9 2\nabcd",          "P1 5 1\n11101",
                              "Pf 2 1 -1.0\nabcdefgh", "PF 1 1 1.0\nabcdefghijkl",
                              "P2 3 1 255 1 2 3",      "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nENDHDR\nabcd"};
  for (const std::string& bytes : good) {
    put(path, bytes);
    EXPECT_EQ(refusal_of(path), "") << bytes;
    expect_every_prefix_refused(path, bytes);
    survive_every_flipped_byte(path, bytes);
  }
}

std::string pam(const std::string& depth, const std::string& maxval, const std::string& type) {
  return "P7\n# comment\n WIDTH 2\nHEIGHT  1 \n\nDEPTH " + depth + "\nMAXVAL " + maxval +
         (type.empty() ? "" : "\nTUPLTYPE " + type) + "\nENDHDR\n";
}

TEST(Pam, TupleTypesAreKept) {
  EXPECT_EQ(samples(read_bytes(pam("1", "255", "GRAYSCALE") + "ab").pages[0]), (Values{'a', 'b'}));
  const ReadResult gray =
      read_bytes(pam("2", "65535", "GRAYSCALE_ALPHA") + big(1, 2) + big(2, 2) + big(3, 2) + big(4, 2));
  EXPECT_TRUE(gray.pages[0].desc().alpha);
  EXPECT_EQ(samples(gray.pages[0]), (Values{1, 2, 3, 4}));
  const ReadResult rgb = read_bytes(pam("3", "255", "RGB") + "abcdef");
  EXPECT_FALSE(rgb.pages[0].desc().alpha);
  EXPECT_EQ(samples(rgb.pages[0]), (Values{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_TRUE(read_bytes(pam("4", "255", "RGB_ALPHA") + "abcdefgh").pages[0].desc().alpha);
  const ReadResult plain = read_bytes(pam("2", "255", "") + "abcd");
  EXPECT_EQ(plain.pages[0].desc().channels, 2);
  EXPECT_FALSE(plain.pages[0].desc().alpha);
}

TEST(Pam, BlackAndWhiteIsOneWhereItIsWhite) {
  const ReadResult read = read_bytes(pam("1", "1", "BLACKANDWHITE") + bytes_of({0, 1}));
  EXPECT_EQ(samples(read.pages[0]), (Values{0, 255}));
  EXPECT_EQ(read.notes.size(), 1u);
  const ReadResult alpha = read_bytes(pam("2", "1", "BLACKANDWHITE_ALPHA") + bytes_of({0, 1, 1, 0}));
  EXPECT_EQ(samples(alpha.pages[0]), (Values{0, 255, 255, 0}));
}

TEST(Pam, AlphaOfAnotherMaxvalIsStretchedAndSamplesAreNot) {
  const ReadResult read =
      read_bytes(pam("2", "1000", "GRAYSCALE_ALPHA") + big(1000, 2) + big(1000, 2) + big(7, 2) + big(500, 2));
  EXPECT_EQ(samples(read.pages[0]), (Values{1000, 65535, 7, 32768}));
  EXPECT_EQ(read.notes.size(), 1u);
}

TEST(Pam, FilesThatLieAreRefused) {
  for (const std::string& bytes :
       {pam("2", "255", "RGB") + "abcdefgh", pam("0", "255", "") + "ab", pam("70000", "255", "") + "ab",
        pam("1", "0", "") + "ab", pam("1", "255", "BLACKANDWHITE") + "ab", pam("1", "x", "") + "ab",
        std::string("P7 332\n#XV"), std::string("P7\nHEIGHT 2\nDEPTH 1\nMAXVAL 255\nENDHDR\nab"),
        std::string("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nCOLOR red\nENDHDR\nab"),
        std::string("P7\nWIDTH 2000000\nHEIGHT 2000000\nDEPTH 4\nMAXVAL 255\nENDHDR\nab")})
    EXPECT_NE(why_not(bytes), "") << bytes;
}

std::string float_bytes(float value, bool little_endian) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return little_endian ? little(bits, 4) : big(bits, 4);
}

TEST(Pfm, BothByteOrdersAreReadFromTheBottomUp) {
  for (bool little_endian : {true, false}) {
    std::string bytes = std::string("Pf\n2 2\n") + (little_endian ? "-1.0\n" : "1\n");
    for (float v : {3.0f, -4.5f, 1e-30f, 2.0f}) bytes += float_bytes(v, little_endian);
    const ReadResult read = read_bytes(bytes);
    EXPECT_EQ(samples(read.pages[0]), (Values{1e-30f, 2, 3, -4.5})) << little_endian;
    EXPECT_TRUE(read.notes.empty());
  }
  const ReadResult scaled = read_bytes("Pf 1 1 -2.5\n" + float_bytes(3, true));
  EXPECT_EQ(samples(scaled.pages[0]), (Values{3}));
  EXPECT_EQ(scaled.notes.size(), 1u);
  EXPECT_NE(why_not("Pf 1 1 0\nabcd"), "");
  EXPECT_NE(why_not("Pf 1 1 nan\nabcd"), "");
  EXPECT_NE(why_not("Pf 1000000 100000 -1\nabcd"), "");
}

/// OpenCV 4.6 takes the colours of a PAM in its own order, BGR: only gray is compared.
TEST(Pnm, IsReadAndWrittenAlikeByOpenCv) {
  const Folder folder;
  const struct {
    const char* suffix;
    DType dtype;
    int channels, type;
  } cases[] = {{".pgm", DType::u8, 1, CV_8UC1},   {".pgm", DType::u16, 1, CV_16UC1}, {".ppm", DType::u8, 3, CV_8UC3},
               {".ppm", DType::u16, 3, CV_16UC3}, {".pam", DType::u8, 1, CV_8UC1},   {".pam", DType::u16, 1, CV_16UC1},
               {".pfm", DType::f32, 1, CV_32FC1}, {".pfm", DType::f32, 3, CV_32FC3}};
  for (const auto& c : cases) {
    const Image image = random_image(make_desc(c.dtype, {19, 13}, c.channels), 4);
    const std::string path = folder.file(std::string("ours") + c.suffix);
    format_for_output(path)->write(path, pages_of(copy_of(image)), {});
    const cv::Mat mat = cv::imread(path, cv::IMREAD_UNCHANGED);
    ASSERT_EQ(mat.type(), c.type) << c.suffix;
    cv::Mat wide;
    mat.convertTo(wide, CV_64F);
    for (int y = 0; y < 13; ++y)
      for (int k = 0; k < 19 * c.channels; ++k) {
        const int bgr = c.channels == 3 ? k / 3 * 3 + 2 - k % 3 : k;
        ASSERT_EQ(wide.ptr<double>(y)[bgr], samples(image)[y * 19 * c.channels + k]) << c.suffix;
      }
    const std::string theirs = folder.file(std::string("theirs") + c.suffix);
    ASSERT_TRUE(cv::imwrite(theirs, mat));
    EXPECT_EQ(samples(read_file(theirs).pages[0]), samples(image)) << c.suffix;
  }
}

TEST(Pnm, SuffixesHoldWhatTheySay) {
  const Folder folder;
  const auto write = [&](const char* name, const Image& image) {
    const std::string path = folder.file(name);
    format_for_output(path)->write(path, pages_of(copy_of(image)), {});
  };
  const Image gray = random_image(make_desc(DType::u8, {2, 2}), 1),
              rgb = random_image(make_desc(DType::u8, {2, 2}, 3), 1);
  EXPECT_THROW(write("a.pgm", rgb), InputError);
  EXPECT_THROW(write("a.PPM", gray), InputError);
  EXPECT_NO_THROW(write("a.pgm", gray));
  EXPECT_NO_THROW(write("a.pnm", gray));
  EXPECT_NO_THROW(write("a.pnm", rgb));
  EXPECT_TRUE(format_for_output("a.pgm")->cannot_hold("a.pgm", make_desc(DType::f32, {2, 2}), 1));
  EXPECT_TRUE(format_for_output("a.ppm")->cannot_hold("a.ppm", make_desc(DType::u8, {2, 2}, 4, true), 1));
  EXPECT_TRUE(format_for_output("a.pfm")->cannot_hold("a.pfm", make_desc(DType::u8, {2, 2}), 1));
}

}  // namespace
}  // namespace imgpipe::test
