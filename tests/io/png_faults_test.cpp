// PNG files as they are found: palettes, colour keys, few bits, interlacing, orientation, profiles, and bombs.
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/io/files.h"

namespace imgpipe::test {
namespace {

using Values = std::vector<double>;

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto* bytes = reinterpret_cast<const Bytef*>(body.data());
  return big(data.size(), 4) + body + big(crc32(0, bytes, static_cast<uInt>(body.size())), 4);
}

std::string deflated(const std::string& data) {
  std::string out(compressBound(data.size()), '\0');
  uLongf size = out.size();
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()), data.size(), 9);
  return out.substr(0, size);
}

enum Colour { gray = 0, rgb = 2, palette = 3, gray_alpha = 4, rgba = 6 };

/// `rows` hold a filter byte each; `extra` stands before the pixels, `behind` after them.
std::string png(int width, int height, int bits, Colour colour, const std::string& rows, const std::string& extra = "",
                const std::string& behind = "") {
  const std::string header =
      big(static_cast<unsigned>(width), 4) + big(static_cast<unsigned>(height), 4) + bytes_of({bits, colour, 0, 0, 0});
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + extra + chunk("IDAT", deflated(rows)) + behind +
         chunk("IEND", "");
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

const std::string four_colours = bytes_of({10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120});

TEST(PngFaults, PaletteEntriesWithoutTransparencyAreOpaque) {
  const std::string rows = bytes_of({0, 0, 1, 2, 3});
  const ReadResult read =
      read_bytes(png(4, 1, 8, palette, rows, chunk("PLTE", four_colours) + chunk("tRNS", bytes_of({0, 0x80}))));
  EXPECT_TRUE(read.pages[0].desc().alpha);
  EXPECT_EQ(samples(read.pages[0]), (Values{10, 20, 30, 0, 40, 50, 60, 128, 70, 80, 90, 255, 100, 110, 120, 255}));
  EXPECT_EQ(read.notes, std::vector<std::string>{"palette expanded to RGBA"});
  const ReadResult opaque = read_bytes(png(4, 1, 2, palette, bytes_of({0, 0x1b}), chunk("PLTE", four_colours)));
  EXPECT_EQ(samples(opaque.pages[0]), (Values{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120}));
}

TEST(PngFaults, IndicesOutsideThePaletteAreRefused) {
  EXPECT_NE(why_not(png(4, 1, 8, palette, bytes_of({0, 0, 1, 2, 4}), chunk("PLTE", four_colours))), "");
}

TEST(PngFaults, SixteenBitsStaySixteen) {
  const std::string rows = std::string(1, '\0') + big(0, 2) + big(255, 2) + big(2500, 2) + big(65535, 2);
  const ReadResult read = read_bytes(png(4, 1, 16, gray, rows));
  EXPECT_EQ(read.pages[0].desc().dtype, DType::u16);
  EXPECT_EQ(samples(read.pages[0]), (Values{0, 255, 2500, 65535}));
}

TEST(PngFaults, FewBitsAreScaled) {
  EXPECT_EQ(samples(read_bytes(png(4, 1, 1, gray, bytes_of({0, 0xa0}))).pages[0]), (Values{255, 0, 255, 0}));
  EXPECT_EQ(samples(read_bytes(png(4, 1, 2, gray, bytes_of({0, 0x1b}))).pages[0]), (Values{0, 85, 170, 255}));
  EXPECT_EQ(samples(read_bytes(png(2, 1, 4, gray, bytes_of({0, 0x1f}))).pages[0]), (Values{17, 255}));
}

TEST(PngFaults, AColourKeyBecomesAlpha) {
  const ReadResult wide =
      read_bytes(png(2, 1, 16, gray, std::string(1, '\0') + big(300, 2) + big(301, 2), chunk("tRNS", big(300, 2))));
  EXPECT_EQ(samples(wide.pages[0]), (Values{300, 0, 301, 65535}));
  EXPECT_EQ(wide.notes.size(), 1u);
}

TEST(PngFaults, InterlacedPassesArePutInTheirPlaces) {
  const std::string header = big(2, 4) + big(2, 4) + bytes_of({8, palette, 0, 0, 1});
  const std::string passes = bytes_of({0, 0, 0, 1, 0, 2, 3});  // pixel (0, 0), then (1, 0), then the row below
  const std::string bytes = "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("PLTE", four_colours) +
                            chunk("IDAT", deflated(passes)) + chunk("IEND", "");
  EXPECT_EQ(samples(read_bytes(bytes).pages[0]), (Values{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120}));
}

TEST(PngFaults, OrientationIsAppliedWhereverTheChunkStands) {
  const std::string rows = bytes_of({0, 1, 2, 3, 0, 4, 5, 6});
  const Values expected[] = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
                             {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (bool behind : {false, true}) {
      const std::string exif = "MM" + big(42, 2) + big(8, 4) + big(1, 2) + big(0x112, 2) + big(3, 2) + big(1, 4) +
                               big(static_cast<unsigned>(orientation), 2) + big(0, 6);
      const std::string tag = chunk("eXIf", exif);
      const ReadResult read = read_bytes(png(3, 2, 8, gray, rows, behind ? "" : tag, behind ? tag : ""));
      EXPECT_EQ(read.pages[0].desc().extent, (orientation > 4 ? Extent{2, 3} : Extent{3, 2}));
      EXPECT_EQ(samples(read.pages[0]), expected[orientation - 1]) << orientation;
    }
}

TEST(PngFaults, ADroppedProfileIsWarnedOf) {
  const std::string rows = bytes_of({0, 1});
  EXPECT_TRUE(read_bytes(png(1, 1, 8, gray, rows)).warnings.empty());
  const std::string profile = chunk("iCCP", std::string("P3\0\0", 4) + deflated(std::string(3000, 'x')));
  const ReadResult read = read_bytes(png(1, 1, 8, gray, rows, profile));
  EXPECT_EQ(read.warnings.size(), 1u);
  EXPECT_EQ(samples(read.pages[0]), (Values{1}));
}

TEST(PngFaults, BombsAreRefusedUnread) {
  const std::string bomb = png(65536, 65536, 8, gray, "");
  EXPECT_LT(bomb.size(), 100u);
  EXPECT_NE(why_not(bomb).find("cannot hold"), std::string::npos) << why_not(bomb);
  EXPECT_NE(why_not(png(0, 5, 8, gray, "")), "");
  EXPECT_NE(why_not(png(0x7fffffff, 0x7fffffff, 16, rgba, "")), "");
}

TEST(PngFaults, EveryPrefixIsRefusedAndEveryFlippedByteIsSeen) {
  const Folder folder;
  const std::string path = folder.file("a.png");
  const std::string good = png(4, 1, 8, palette, bytes_of({0, 0, 1, 2, 3}), chunk("PLTE", four_colours));
  put(path, good);
  EXPECT_EQ(refusal_of(path), "");
  expect_every_prefix_refused(path, good);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    put(path, bad);
    EXPECT_NE(refusal_of(path), "") << "byte " << i;
  }
}

TEST(PngFaults, RowsThatEndEarlyAreRefused) {
  EXPECT_NE(why_not(png(4, 2, 8, gray, bytes_of({0, 1, 2, 3, 4}))), "");
  EXPECT_NE(why_not(png(4, 2, 8, gray, bytes_of({0, 1, 2, 3, 4, 0, 1, 2, 3}))), "");
}

TEST(PngFaults, ContentCountsMoreThanTheName) {
  const Folder folder;
  for (const char* name : {"b.jpg", "c.TIF", "d"}) {
    put(folder.file(name), png(2, 1, 8, gray, bytes_of({0, 7, 9})));
    EXPECT_EQ(samples(read_file(folder.file(name)).pages[0]), (Values{7, 9})) << name;
  }
}

}  // namespace
}  // namespace imgpipe::test
