// TIFF files as they are found: sample formats, predictors, planes, tiles, colours, ImageJ stacks, and files that lie.
#include <gtest/gtest.h>
#include <tiffio.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/io/tiff_bytes.h"

namespace imgpipe::test {
namespace {

using Values = std::vector<double>;

const TiffBytes both_orders[] = {{.big_endian = false}, {.big_endian = true}};
const TiffBytes all_kinds[] = {{}, {.big_endian = true}, {.big_tiff = true}, {.big_endian = true, .big_tiff = true}};

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

std::string deflated(const std::string& data) {
  std::string out(compressBound(data.size()), '\0');
  uLongf size = out.size();
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()), data.size(), 9);
  return out.substr(0, size);
}

template <class T>
std::string stored(const TiffBytes& kind, const std::vector<T>& values) {
  std::string text;
  for (T v : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    text += kind.number(bits, sizeof v);
  }
  return text;
}

std::vector<std::uint16_t> ramp(int count, int step = 1000) {
  std::vector<std::uint16_t> values;
  for (int k = 0; k < count; ++k) values.push_back(static_cast<std::uint16_t>(k * step));
  return values;
}

Values doubles(const auto& values) { return Values(values.begin(), values.end()); }

template <class T>
void expect_format(int sample_format, DType dtype) {
  std::vector<T> values;
  for (int k = 0; k < 35; ++k) values.push_back(static_cast<T>(std::is_signed_v<T> ? 3 * k - 50 : 3 * k));
  values[0] = std::numeric_limits<T>::max();
  values[1] = std::numeric_limits<T>::lowest();
  for (const TiffBytes& kind : all_kinds) {
    TiffPage page = tiff_page(5, 7, 8 * sizeof(T), stored(kind, values));
    page.set(tag_sample_format, {static_cast<std::uint64_t>(sample_format)});
    const ReadResult read = read_bytes(kind.file({page}));
    EXPECT_EQ(read.pages[0].desc().dtype, dtype);
    EXPECT_EQ(samples(read.pages[0]), doubles(values)) << name(dtype) << (kind.big_endian ? " MM" : " II");
  }
}

TEST(TiffFaults, EverySampleFormatKeepsItsValues) {
  expect_format<std::uint8_t>(1, DType::u8);
  expect_format<std::uint16_t>(1, DType::u16);
  expect_format<std::uint32_t>(1, DType::u32);
  expect_format<std::int8_t>(2, DType::i8);
  expect_format<std::int16_t>(2, DType::i16);
  expect_format<std::int32_t>(2, DType::i32);
  expect_format<float>(3, DType::f32);
  expect_format<double>(3, DType::f64);
}

TEST(TiffFaults, Float16IsReadAsFloat32) {
  const std::vector<std::uint16_t> halves = {0x0000, 0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0xfc00, 0x3555};
  const double inf = std::numeric_limits<double>::infinity();
  for (const TiffBytes& kind : both_orders) {
    TiffPage page = tiff_page(8, 1, 16, stored(kind, halves));
    page.set(tag_sample_format, {3});
    const ReadResult read = read_bytes(kind.file({page}));
    EXPECT_EQ(samples(read.pages[0]), (Values{0, 1, -2, 65504, std::ldexp(1.0, -24), inf, -inf, 0.333251953125}));
    EXPECT_EQ(read.notes.size(), 1u);
  }
}

TEST(TiffFaults, OtherSampleFormatsAreRefusedByName) {
  for (const auto& [bits, format, words] :
       {std::tuple(64, 1, "64-bit unsigned integer"), std::tuple(12, 1, "12-bit unsigned integer"),
        std::tuple(24, 3, "24-bit float"), std::tuple(64, 6, "64-bit complex float")}) {
    TiffPage page = tiff_page(2, 2, bits, std::string(64, 'a'));
    page.set(tag_sample_format, {static_cast<std::uint64_t>(format)});
    EXPECT_NE(why_not(TiffBytes{}.file({page})).find(words), std::string::npos) << why_not(TiffBytes{}.file({page}));
  }
}

TEST(TiffFaults, FiveSamplesAPixelAreFiveChannels) {
  const std::vector<std::uint16_t> values = ramp(5 * 7 * 5, 100);
  for (const TiffBytes& kind : all_kinds) {
    TiffPage page = tiff_page(5, 7, 16, stored(kind, values), 5);
    page.set(tag_photometric, {1}).set(tag_extra_samples, {0, 0, 0, 0});
    const ReadResult read = read_bytes(kind.file({page}));
    EXPECT_EQ(read.pages[0].desc().channels, 5);
    EXPECT_EQ(samples(read.pages[0]), doubles(values));
  }
}

TEST(TiffFaults, WhiteIsZeroIsInvertedAtEveryDepth) {
  const std::vector<std::uint16_t> wide = ramp(35);
  std::vector<std::uint8_t> narrow;
  for (std::uint16_t v : wide) narrow.push_back(static_cast<std::uint8_t>(v >> 8));
  for (const TiffBytes& kind : both_orders) {
    TiffPage page_16 = tiff_page(5, 7, 16, stored(kind, wide)), page_8 = tiff_page(5, 7, 8, stored(kind, narrow));
    const ReadResult read_16 = read_bytes(kind.file({page_16.set(tag_photometric, {0})}));
    const ReadResult read_8 = read_bytes(kind.file({page_8.set(tag_photometric, {0})}));
    EXPECT_EQ(sample(read_16.pages[0], 1, 0), 64535);
    for (int k = 0; k < 35; ++k) {
      EXPECT_EQ(samples(read_16.pages[0])[k], 65535 - wide[k]);
      EXPECT_EQ(samples(read_8.pages[0])[k], 255 - narrow[k]);
    }
    EXPECT_EQ(read_8.notes, read_16.notes);
  }
  TiffPage bitmap = tiff_page(8, 1, 1, bytes_of({0x5a}));
  EXPECT_EQ(samples(read_bytes(TiffBytes{}.file({bitmap.set(tag_photometric, {0})})).pages[0]),
            (Values{255, 0, 255, 0, 0, 255, 0, 255}));
  TiffPage with_alpha = tiff_page(1, 1, 8, bytes_of({10, 200}), 2);
  with_alpha.set(tag_photometric, {0}).set(tag_extra_samples, {2});
  EXPECT_EQ(samples(read_bytes(TiffBytes{}.file({with_alpha})).pages[0]), (Values{245, 200}));
}

TEST(TiffFaults, PagesKeepTheirSizesAndDepths) {
  for (const TiffBytes& kind : all_kinds) {
    const std::string rgb = bytes_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const ReadResult read =
        read_bytes(kind.file({tiff_page(5, 7, 16, stored(kind, ramp(35))),
                              tiff_page(3, 4, 8, std::string("abcdefghijkl")), tiff_page(2, 2, 8, rgb, 3)}));
    ASSERT_EQ(read.pages.size(), 3u);
    EXPECT_EQ(describe(read.pages[0].desc()), "5x7 uint16");
    EXPECT_EQ(describe(read.pages[1].desc()), "3x4 uint8");
    EXPECT_EQ(describe(read.pages[2].desc()), "2x2 uint8 RGB");
    EXPECT_EQ(sample(read.pages[0], 4, 6), 34000);
    EXPECT_EQ(sample(read.pages[1], 2, 3), 'l');
    EXPECT_EQ(sample(read.pages[2], 1, 1, 0, 2), 12);
  }
}

TEST(TiffFaults, PagesThatAreNotThereAreRefused) {
  const Folder folder;
  const std::string path = folder.file("a.tif");
  put(path, TiffBytes{}.file({tiff_page(1, 1, 8, "a"), tiff_page(1, 1, 8, "b")}));
  const Format& format = format_of_file(path);
  EXPECT_EQ(samples(format.read(path, 1, 1).pages.at(0)), (Values{'b'}));
  EXPECT_EQ(format.read(path, 1, 9).pages.size(), 1u);
  EXPECT_THROW(format.read(path, 2, 1), InputError);
}

/// A row's samples as differences to their left neighbours.
template <class T>
std::vector<T> differences(const std::vector<T>& row) {
  std::vector<T> out = row;
  for (std::size_t i = row.size() - 1; i > 0; --i) out[i] = static_cast<T>(row[i] - row[i - 1]);
  return out;
}

/// TIFF technical note 3: the bytes of all floats, the highest first whatever the file's order, then differences.
std::string float_predicted(const std::vector<float>& row) {
  std::vector<std::uint8_t> planes;
  for (int shift = 24; shift >= 0; shift -= 8)
    for (float v : row) {
      std::uint32_t bits;
      std::memcpy(&bits, &v, 4);
      planes.push_back(static_cast<std::uint8_t>(bits >> shift));
    }
  const std::vector<std::uint8_t> d = differences(planes);
  return {d.begin(), d.end()};
}

/// Rows of 4 columns as one strip, or as one tile of 16 x 16 with them in its corner.
template <class T, class Encode>
TiffPage predicted_page(const std::vector<std::vector<T>>& rows, int predictor, bool tiled, Encode encode) {
  std::string block;
  for (std::size_t y = 0; y < (tiled ? 16 : rows.size()); ++y) {
    std::vector<T> row = y < rows.size() ? rows[y] : std::vector<T>(4, T(0));
    if (tiled) row.resize(16, T(0));
    block += encode(row);
  }
  TiffPage page = tiff_page(4, static_cast<int>(rows.size()), 8 * sizeof(T), deflated(block));
  page.set(tag_compression, {8}).set(tag_predictor, {static_cast<std::uint64_t>(predictor)});
  if (std::is_floating_point_v<T>) page.set(tag_sample_format, {3});
  if (!tiled) return page;
  page.tiled = true;
  page.fields.erase(tag_rows_per_strip);
  return page.set(tag_tile_width, {16}).set(tag_tile_height, {16});
}

TEST(TiffFaults, PredictorsAreUndoneInBothByteOrders) {
  const std::vector<std::vector<std::uint16_t>> whole = {{1000, 2000, 3000, 4000}, {65535, 0, 1, 256}};
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> floats = {{1, 2, 3, 4}, {-1.5f, inf, 1e-30f, 0.1f}};
  for (const TiffBytes& kind : all_kinds)
    for (bool tiled : {false, true}) {
      const auto encode = [&](const std::vector<std::uint16_t>& row) { return stored(kind, differences(row)); };
      EXPECT_EQ(samples(read_bytes(kind.file({predicted_page(whole, 2, tiled, encode)})).pages[0]),
                (Values{1000, 2000, 3000, 4000, 65535, 0, 1, 256}));
      EXPECT_EQ(samples(read_bytes(kind.file({predicted_page(floats, 3, tiled, float_predicted)})).pages[0]),
                (Values{1, 2, 3, 4, -1.5, inf, 1e-30f, 0.1f}));
    }
}

TEST(TiffFaults, SeparatePlanesAreInterleaved) {
  const std::vector<std::uint16_t> red = ramp(6, 1), green = ramp(6, 100), blue = ramp(6, 10000);
  Values expected;
  for (int i = 0; i < 6; ++i) expected.insert(expected.end(), {double(red[i]), double(green[i]), double(blue[i])});
  for (const TiffBytes& kind : all_kinds) {
    TiffPage page = tiff_page(3, 2, 16, "", 3);
    page.set(tag_planar, {2}).blocks = {stored(kind, red), stored(kind, green), stored(kind, blue)};
    EXPECT_EQ(samples(read_bytes(kind.file({page})).pages[0]), expected);
  }
}

TEST(TiffFaults, TilesAtTheEdgesAreCut) {
  const int width = 37, height = 21, tile = 16;
  for (const TiffBytes& kind : all_kinds) {
    TiffPage page = tiff_page(width, height, 16, "");
    page.tiled = true;
    page.fields.erase(tag_rows_per_strip);
    page.set(tag_tile_width, {tile}).set(tag_tile_height, {tile}).blocks.clear();
    for (int y0 = 0; y0 < height; y0 += tile)
      for (int x0 = 0; x0 < width; x0 += tile) {
        std::vector<std::uint16_t> block;
        for (int y = y0; y < y0 + tile; ++y)
          for (int x = x0; x < x0 + tile; ++x) block.push_back(static_cast<std::uint16_t>(1000 * y + x));
        page.blocks.push_back(stored(kind, block));
      }
    const ReadResult read = read_bytes(kind.file({page}));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) ASSERT_EQ(sample(read.pages[0], x, y), 1000 * y + x);
  }
}

TEST(TiffFaults, OrientationIsApplied) {
  const Values expected[] = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
                             {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (unsigned orientation = 1; orientation <= 8; ++orientation) {
    TiffPage page = tiff_page(3, 2, 8, bytes_of({1, 2, 3, 4, 5, 6}));
    page.set(tag_orientation, {orientation}).set(tag_x_resolution, {10, 1}, 5).set(tag_y_resolution, {20, 1}, 5);
    page.set(tag_resolution_unit, {3});
    const ReadResult read = read_bytes(TiffBytes{}.file({page}));
    EXPECT_EQ(read.pages[0].desc().extent, (orientation > 4 ? Extent{2, 3} : Extent{3, 2}));
    EXPECT_EQ(samples(read.pages[0]), expected[orientation - 1]) << orientation;
    EXPECT_NEAR(read.pages[0].desc().geometry.spacing[orientation > 4 ? 1 : 0], 1, 1e-6);
    EXPECT_NEAR(read.pages[0].desc().geometry.spacing[orientation > 4 ? 0 : 1], 0.5, 1e-6);
  }
}

TEST(TiffFaults, AssociatedAlphaIsDividedOut) {
  TiffPage page = tiff_page(3, 1, 8, bytes_of({50, 100, 25, 128, 0, 0, 0, 0, 9, 8, 7, 255}), 4);
  const ReadResult read = read_bytes(TiffBytes{}.file({page.set(tag_extra_samples, {1})}));
  EXPECT_TRUE(read.pages[0].desc().alpha);
  EXPECT_EQ(samples(read.pages[0]), (Values{100, 199, 50, 128, 0, 0, 0, 0, 9, 8, 7, 255}));
  const ReadResult plain = read_bytes(TiffBytes{}.file({page.set(tag_extra_samples, {2})}));
  EXPECT_EQ(samples(plain.pages[0]), (Values{50, 100, 25, 128, 0, 0, 0, 0, 9, 8, 7, 255}));
  const ReadResult unknown = read_bytes(TiffBytes{}.file({page.set(tag_extra_samples, {0})}));
  EXPECT_FALSE(unknown.pages[0].desc().alpha);
}

TEST(TiffFaults, PalettesAndInksBecomeColours) {
  std::vector<std::uint64_t> map(3 * 16, 0);
  map[1] = 0xffff, map[16 + 1] = 0x8080, map[32 + 15] = 0x4040;
  TiffPage four = tiff_page(3, 1, 4, bytes_of({0x1f, 0x00}));
  four.set(tag_photometric, {3}).set(tag_colour_map, map);
  EXPECT_EQ(samples(read_bytes(TiffBytes{}.file({four})).pages[0]), (Values{255, 128, 0, 0, 0, 64, 0, 0, 0}));
  TiffPage inks = tiff_page(2, 1, 8, bytes_of({0, 255, 255, 0, 0, 0, 0, 255}), 4);
  EXPECT_EQ(samples(read_bytes(TiffBytes{}.file({inks.set(tag_photometric, {5})})).pages[0]),
            (Values{255, 0, 0, 0, 0, 0}));
}

TEST(TiffFaults, PalettesOfSignedIndicesAreRefused) {
  for (int bits : {8, 16}) {
    TiffPage page = tiff_page(4, 4, bits, std::string(64, '\xff'));
    page.set(tag_photometric, {3}).set(tag_sample_format, {2});
    page.set(tag_colour_map, std::vector<std::uint64_t>(std::size_t{3} << bits, 7));
    EXPECT_NE(why_not(TiffBytes{}.file({page})).find("palette"), std::string::npos) << bits;
  }
}

TEST(TiffFaults, HyperstacksOfImageJKeepTheirSpacingAndOrder) {
  for (const TiffBytes& kind : both_orders) {
    std::vector<TiffPage> pages;
    for (int k = 0; k < 12; ++k) {
      TiffPage page = tiff_page(7, 5, 16, stored(kind, ramp(35, k + 1)));
      page.set(tag_x_resolution, {2, 1}, 5).set(tag_y_resolution, {2, 1}, 5).set(tag_resolution_unit, {1});
      page.set_text(tag_description,
                    "ImageJ=1.54f\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\nunit=um\nspacing=2.5\n");
      pages.push_back(page);
    }
    const ReadResult read = read_bytes(kind.file(pages));
    ASSERT_EQ(read.pages.size(), 12u);
    for (int k = 0; k < 12; ++k) EXPECT_EQ(sample(read.pages[k], 6, 4), 34 * (k + 1));
    EXPECT_EQ(read.pages[0].desc().geometry, (Geometry{{0.5, 0.5, 2.5}, {0, 0, 0}, "um"}));
  }
}

TEST(TiffFaults, SlicesOfImageJWithoutDirectoriesFollowTheFirst) {
  const Folder folder;
  const std::string path = folder.file("a.tif");
  for (const TiffBytes& kind : both_orders) {
    TiffPage page = tiff_page(3, 2, 16, stored(kind, ramp(24, 7)));
    page.set_text(tag_description, "ImageJ=1.54f\nimages=4\nslices=4\nunit=micron\nspacing=3\n");
    page.set(tag_x_resolution, {4, 1}, 5).set(tag_y_resolution, {2, 1}, 5).set(tag_resolution_unit, {1});
    const std::string good = kind.file({page});
    put(path, good);
    const ReadResult read = read_file(path);
    ASSERT_EQ(read.pages.size(), 4u);
    EXPECT_TRUE(format_of_file(path).read_info(path).declares_volume);
    for (int k = 0; k < 24; ++k) EXPECT_EQ(sample(read.pages[k / 6], k % 3, k % 6 / 3), 7 * k);
    EXPECT_EQ(read.pages[3].desc().geometry, (Geometry{{0.25, 0.5, 3}, {0, 0, 0}, "um"}));
    EXPECT_EQ(sample(format_of_file(path).read(path, 2, 1).pages.at(0), 0, 0), 7 * 12);
    EXPECT_THROW(format_of_file(path).read(path, 4, 1), InputError);
    for (const char* count : {"9999", "1e18", "99999999999999999999", "-4"}) {
      page.set_text(tag_description, std::string("ImageJ=1.54f\nimages=") + count + "\nslices=4\n");
      put(path, kind.file({page}));
      const std::string reason = refusal_of(path);
      EXPECT_EQ(reason.empty(), std::string(count) != "9999") << count << reason;
    }
  }
}

TEST(TiffFaults, FilesWithoutScaleHavePixels) {
  const Geometry none;
  TiffPage page = tiff_page(2, 1, 8, "ab");
  EXPECT_EQ(read_bytes(TiffBytes{}.file({page})).pages[0].desc().geometry, none);
  page.set_text(tag_description, "ImageJ=1.54f\nimages=1\n");
  EXPECT_EQ(read_bytes(TiffBytes{}.file({page})).pages[0].desc().geometry, none);
  for (const auto& [numerator, denominator] : {std::pair(0u, 0u), std::pair(0u, 1u), std::pair(1u, 0u)}) {
    page.set(tag_x_resolution, {numerator, denominator}, 5).set(tag_y_resolution, {numerator, denominator}, 5);
    page.set_text(tag_description, "a scan");
    EXPECT_EQ(read_bytes(TiffBytes{}.file({page})).pages[0].desc().geometry, none) << numerator << "/" << denominator;
    page.set_text(tag_description, "ImageJ=1.54f\nimages=1\nunit=um\n");
    EXPECT_EQ(read_bytes(TiffBytes{}.file({page})).pages[0].desc().geometry, none) << numerator << "/" << denominator;
  }
}

TEST(TiffFaults, ResolutionIsCarriedAndADroppedProfileIsWarnedOf) {
  const Folder folder;
  const std::string path = folder.file("a.tif");
  TiffPage page = tiff_page(2, 1, 8, "ab");
  page.set(tag_x_resolution, {254, 1}, 5).set(tag_y_resolution, {254, 1}, 5).set(tag_resolution_unit, {2});
  page.set_text(tag_description, "a scan");
  page.set(tag_icc_profile, std::vector<std::uint64_t>(3000, 'x'), 7);
  put(path, TiffBytes{}.file({page, page}));
  const ReadResult read = read_file(path);
  EXPECT_EQ(read.warnings.size(), 1u);
  EXPECT_NEAR(read.pages[0].desc().geometry.spacing[0], 0.1, 1e-6);
  format_for_output(path)->write(path, pages_of(copy_of(read.pages[0])), {});
  EXPECT_NEAR(read_file(path).pages[0].desc().geometry.spacing[0], 0.1, 1e-6);
  EXPECT_EQ(read_file(path).pages[0].desc().geometry.unit, "mm");
}

TEST(TiffFaults, LongSidesAreRead) {
  for (const auto& [width, height] : {std::pair(4, 1048576), std::pair(4, 1200000), std::pair(1200000, 4)}) {
    const std::string pixels(static_cast<std::size_t>(width) * height, 'x');
    const ReadResult read = read_bytes(TiffBytes{}.file({tiff_page(width, height, 8, pixels)}));
    EXPECT_EQ(read.pages[0].desc().extent, (Extent{width, height}));
    EXPECT_EQ(sample(read.pages[0], width - 1, height - 1), 'x');
  }
}

TEST(TiffFaults, HeadersOfAbsurdSizeAreRefusedUnread) {
  for (int compression : {1, 5, 8, 32773, 7}) {
    TiffPage page = tiff_page(65536, 65536, 8, "abcd");
    EXPECT_NE(why_not(TiffBytes{}.file({page.set(tag_compression, {static_cast<std::uint64_t>(compression)})})), "");
  }
  TiffPage tile = tiff_page(16, 16, 8, std::string(256, 'a'));
  tile.tiled = true;
  tile.fields.erase(tag_rows_per_strip);
  tile.set(tag_tile_width, {65536}, 4).set(tag_tile_height, {65536}, 4);
  EXPECT_NE(why_not(TiffBytes{}.file({tile})), "");
}

TEST(TiffFaults, BlocksShorterThanTheSizeAsksAreRefused) {
  const std::string few(37 * 28, 'x');
  EXPECT_NE(why_not(TiffBytes{}.file({tiff_page(37, 29, 8, few)})), "");
  TiffPage two = tiff_page(37, 29, 8, few);
  EXPECT_NE(why_not(TiffBytes{}.file({two.set(tag_rows_per_strip, {28}, 4)})), "");
  two.blocks = {few, std::string(36, 'x')};
  EXPECT_NE(why_not(TiffBytes{}.file({two})), "");
  two.blocks = {few, std::string(37, 'y')};
  EXPECT_EQ(sample(read_bytes(TiffBytes{}.file({two})).pages[0], 0, 28), 'y');
  TiffPage tile = tiff_page(16, 16, 8, std::string(255, 'a'));
  tile.tiled = true;
  tile.fields.erase(tag_rows_per_strip);
  tile.set(tag_tile_width, {16}, 4).set(tag_tile_height, {16}, 4);
  EXPECT_NE(why_not(TiffBytes{}.file({tile})), "");
}

TEST(TiffFaults, EveryPrefixIsRefusedAndNoByteCrashes) {
  const Folder folder;
  const std::string path = folder.file("a");
  for (const TiffBytes& kind : all_kinds) {
    TiffPage page = tiff_page(3, 2, 8, bytes_of({1, 2, 3, 4, 5, 6}));
    page.set(tag_x_resolution, {2, 1}, 5).set_text(tag_description, "ImageJ=1.54f\nimages=1\nunit=um\n");
    TiffPage squeezed = tiff_page(3, 2, 8, deflated("abcdef"));
    const std::string good = kind.file({squeezed.set(tag_compression, {8}), page});
    put(path, good);
    EXPECT_EQ(refusal_of(path), "");
    expect_every_prefix_refused(path, good);
    survive_every_flipped_byte(path, good);
  }
}

std::string tiff_with_jpeg(const std::string& path) {
  TIFF* file = TIFFOpen(path.c_str(), "w");
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, 64);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, 64);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, 64);
  TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_JPEG);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR);
  TIFFSetField(file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  TIFFSetField(file, TIFFTAG_JPEGQUALITY, 95);
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 64 * 64; ++i)
    for (int c = 0; c < 3; ++c) pixels.push_back(static_cast<std::uint8_t>(i % 64 + i / 64 + 40 * c));
  TIFFWriteEncodedStrip(file, 0, pixels.data(), static_cast<tmsize_t>(pixels.size()));
  TIFFClose(file);
  return get(path);
}

TEST(TiffFaults, JpegWithinTiffIsReadWholeOrRefused) {
  const Folder folder;
  const std::string path = folder.file("a.tif"), good = tiff_with_jpeg(path);
  const ReadResult read = read_file(path);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x)
      for (int c = 0; c < 3; ++c) ASSERT_NEAR(sample(read.pages[0], x, y, 0, c), x + y + 40 * c, 12);
  const std::size_t scan = good.find("\xff\xda");
  ASSERT_NE(scan, std::string::npos);
  // An end in the midst of the scan: libjpeg makes up the rest, and only warns.
  std::string bad = good;
  bad.replace(scan + 100, 2, "\xff\xd9");
  put(path, bad);
  EXPECT_NE(refusal_of(path), "");
}

}  // namespace
}  // namespace imgpipe::test
