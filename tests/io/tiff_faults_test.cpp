// TIFF files as they come: every sample format, layout and byte order, and what other programs write into them.
#include <tiffio.h>
#include <zlib.h>

#include <bit>

#include "tests/io/files.h"

namespace imgpipe::test {
namespace {

using Numbers = std::vector<double>;

// ---- files written byte by byte

struct Tag {
  int tag, type;  ///< 1 byte, 2 text, 3 short, 4 long, 5 rational (two longs each), 16 long8
  std::vector<std::uint64_t> values;
};

int size_of_type(int type) { return type <= 2 ? 1 : type == 3 ? 2 : type == 16 ? 8 : 4; }

/// One directory with one strip (or one tile), classic or big, of either byte order.
std::string tiff(std::vector<Tag> tags, const std::string& data, bool big_endian = false, bool big_tiff = false,
                 bool tile = false) {
  const int word = big_tiff ? 8 : 4;
  const std::size_t head = big_tiff ? 16 : 8;
  tags.push_back({tile ? 324 : 273, big_tiff ? 16 : 4, {head}});
  tags.push_back({tile ? 325 : 279, big_tiff ? 16 : 4, {data.size()}});
  std::sort(tags.begin(), tags.end(), [](const Tag& a, const Tag& b) { return a.tag < b.tag; });
  std::string body = data;
  if (body.size() % 2) body += '\0';
  const auto put = [&](std::uint64_t v, int size) { return number(v, size, big_endian); };
  std::string entries;
  for (const Tag& t : tags) {
    std::string values;
    for (std::uint64_t v : t.values) values += put(v, size_of_type(t.type));
    const std::size_t count = t.type == 5 ? t.values.size() / 2 : t.values.size();
    entries += put(t.tag, 2) + put(t.type, 2) + put(count, word);
    if (values.size() <= static_cast<std::size_t>(word)) {
      entries += values + std::string(word - values.size(), '\0');
    } else {
      entries += put(head + body.size(), word);
      body += values + (values.size() % 2 ? std::string(1, '\0') : "");
    }
  }
  const std::string first = put(head + body.size(), word);
  const std::string start = std::string(big_endian ? "MM" : "II") + put(big_tiff ? 43 : 42, 2) +
                            (big_tiff ? put(8, 2) + put(0, 2) : "") + first;
  return start + body + put(tags.size(), big_tiff ? 8 : 2) + entries + put(0, word);
}

std::vector<Tag> tags(int width, int height, int bits, int format = 1, int samples = 1, int photometric = 1) {
  return {{256, 4, {std::uint64_t(width)}},
          {257, 4, {std::uint64_t(height)}},
          {258, 3, std::vector<std::uint64_t>(samples, bits)},
          {259, 3, {1}},
          {262, 3, {std::uint64_t(photometric)}},
          {277, 3, {std::uint64_t(samples)}},
          {278, 4, {std::uint64_t(height)}},
          {339, 3, std::vector<std::uint64_t>(samples, format)}};
}

void set(std::vector<Tag>& list, const Tag& tag) {
  std::erase_if(list, [&](const Tag& t) { return t.tag == tag.tag; });
  list.push_back(tag);
}

Tag text(int tag, const std::string& words) {
  Tag t{tag, 2, {}};
  for (char c : words + '\0') t.values.push_back(static_cast<unsigned char>(c));
  return t;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  out.resize(size);
  return out;
}

Numbers values_of(const Folder& folder, const std::string& bytes) {
  return samples(read_bytes(folder, bytes).pages.at(0));
}

struct SampleKind {
  const char* name;
  int bits, format;
  DType dtype;
};

TEST(TiffSamples, OfEveryKindInBothByteOrdersAndSizes) {
  const Folder folder;
  const SampleKind kinds[] = {{"uint8", 8, 1, DType::u8},     {"uint16", 16, 1, DType::u16},
                              {"uint32", 32, 1, DType::u32},  {"int8", 8, 2, DType::i8},
                              {"int16", 16, 2, DType::i16},   {"int32", 32, 2, DType::i32},
                              {"float32", 32, 3, DType::f32}, {"float64", 64, 3, DType::f64}};
  for (const SampleKind& kind : kinds)
    for (bool big_endian : {false, true})
      for (bool big_tiff : {false, true}) {
        Numbers expected;
        std::string data;
        for (int i = 0; i < 35; ++i) {
          const double v = kind.format == 1 ? i * 3 : i * 3 - 50;
          expected.push_back(v);
          const std::uint64_t bits = kind.format == 3 ? kind.bits == 32 ? std::bit_cast<std::uint32_t>(float(v))
                                                                        : std::bit_cast<std::uint64_t>(v)
                                                      : static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
          data += number(bits, kind.bits / 8, big_endian);
        }
        const ReadResult read =
            read_bytes(folder, tiff(tags(5, 7, kind.bits, kind.format), data, big_endian, big_tiff));
        EXPECT_EQ(read.pages[0].desc().dtype, kind.dtype) << kind.name;
        EXPECT_EQ(samples(read.pages[0]), expected) << kind.name << (big_endian ? " MM" : " II") << big_tiff;
      }
}

TEST(TiffSamples, OfHalfFloatsAreWidened) {
  const Folder folder;
  std::string data;
  for (int half : {0x3c00, 0xc000, 0x7c00, 0x0001, 0x3555}) data += number(half, 2);
  const ReadResult read = read_bytes(folder, tiff(tags(5, 1, 16, 3), data));
  EXPECT_EQ(read.pages[0].desc().dtype, DType::f32);
  EXPECT_EQ(samples(read.pages[0]), (Numbers{1, -2, std::numeric_limits<double>::infinity(), 0x1p-24, 0.333251953125}));
}

TEST(TiffSamples, OfUnknownKindsAreNamed) {
  const Folder folder;
  for (const auto& [bits, format, word] : {std::tuple(64, 1, "64-bit unsigned integer"), std::tuple(64, 6, "complex"),
                                           std::tuple(12, 1, "12-bit"), std::tuple(24, 3, "24-bit float")})
    EXPECT_NE(refusal_of(folder, tiff(tags(2, 1, bits, format), std::string(64, 'x'))).find(word), std::string::npos)
        << word;
}

TEST(TiffSamples, OfFewBitsBecomeGrayLevels) {
  const Folder folder;
  EXPECT_EQ(values_of(folder, tiff(tags(10, 1, 1), std::string("\xa0\x40", 2))),
            (Numbers{255, 0, 255, 0, 0, 0, 0, 0, 0, 255}));
  EXPECT_EQ(values_of(folder, tiff(tags(3, 1, 4), std::string("\x0f\x50", 2))), (Numbers{0, 255, 85}));
}

TEST(TiffSamples, WhiteIsZeroIsOneRuleForAllDepths) {
  const Folder folder;
  EXPECT_EQ(values_of(folder, tiff(tags(3, 1, 8, 1, 1, 0), std::string("\x00\x04\xff", 3))), (Numbers{255, 251, 0}));
  std::string data;
  for (int v : {0, 1000, 65535}) data += number(v, 2);
  const ReadResult read = read_bytes(folder, tiff(tags(3, 1, 16, 1, 1, 0), data));
  EXPECT_EQ(samples(read.pages[0]), (Numbers{65535, 64535, 0}));
  EXPECT_EQ(read.notes, (std::vector<std::string>{"white-is-zero inverted to black-is-zero"}));
  EXPECT_EQ(values_of(folder, tiff(tags(8, 1, 1, 1, 1, 0), std::string("\x0f", 1))),
            (Numbers{255, 255, 255, 255, 0, 0, 0, 0}));
}

TEST(TiffSamples, MoreThanFourAreKept) {
  const Folder folder;
  std::string data;
  Numbers expected;
  for (int i = 0; i < 5 * 7 * 5; ++i) data += number(i * 300, 2), expected.push_back(i * 300);
  std::vector<Tag> list = tags(5, 7, 16, 1, 5);
  list.push_back({338, 3, {0, 0, 0, 0}});
  const ReadResult read = read_bytes(folder, tiff(list, data));
  EXPECT_EQ(read.pages[0].desc().channels, 5);
  EXPECT_FALSE(read.pages[0].desc().alpha);
  EXPECT_EQ(samples(read.pages[0]), expected);
}

TEST(TiffAlpha, AssociatedIsDividedOutAndUnassociatedIsNot) {
  const Folder folder;
  for (int kind : {1, 2}) {
    std::vector<Tag> list = tags(2, 1, 8, 1, 4, 2);
    list.push_back({338, 3, {std::uint64_t(kind)}});
    const ReadResult read = read_bytes(folder, tiff(list, std::string("\x32\x64\x00\x64\x05\x05\x05\x00", 8)));
    EXPECT_TRUE(read.pages[0].desc().alpha);
    EXPECT_EQ(samples(read.pages[0]),
              kind == 1 ? (Numbers{128, 255, 0, 100, 0, 0, 0, 0}) : (Numbers{50, 100, 0, 100, 5, 5, 5, 0}));
  }
}

// ---- predictors

/// Differences of neighbours in a row, in the file's byte order.
std::string horizontal(const std::vector<std::vector<int>>& rows, bool big_endian) {
  std::string bytes;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      bytes += number(static_cast<std::uint16_t>(row[i] - (i ? row[i - 1] : 0)), 2, big_endian);
  return bytes;
}

/// The bytes of a row's floats by significance, highest first, then differences of bytes.
std::string floating(const std::vector<std::vector<float>>& rows) {
  std::string bytes;
  for (const auto& row : rows) {
    std::string planes;
    for (int plane = 0; plane < 4; ++plane)
      for (float v : row) planes += static_cast<char>(std::bit_cast<std::uint32_t>(v) >> (24 - 8 * plane));
    for (std::size_t i = planes.size(); i-- > 1;) planes[i] = static_cast<char>(planes[i] - planes[i - 1]);
    bytes += planes;
  }
  return bytes;
}

std::vector<Tag> predicted(int bits, int format, int predictor, bool tile) {
  std::vector<Tag> list = tags(4, 2, bits, format);
  set(list, {259, 3, {8}});
  list.push_back({317, 3, {std::uint64_t(predictor)}});
  if (!tile) return list;
  std::erase_if(list, [](const Tag& t) { return t.tag == 278; });
  list.push_back({322, 4, {16}});
  list.push_back({323, 4, {16}});
  return list;
}

/// Rows padded to a tile of 16 x 16.
template <class T>
std::vector<std::vector<T>> padded(std::vector<std::vector<T>> rows, bool tile) {
  if (!tile) return rows;
  rows.resize(16);
  for (auto& row : rows) row.resize(16, T(0));
  return rows;
}

TEST(TiffPredictors, AreUndoneInBothByteOrdersInStripsAndTiles) {
  const Folder folder;
  for (bool big_endian : {false, true})
    for (bool tile : {false, true}) {
      const std::vector<std::vector<int>> whole{{1000, 2000, 3000, 4000}, {65535, 0, 1, 256}};
      EXPECT_EQ(values_of(folder, tiff(predicted(16, 1, 2, tile), deflated(horizontal(padded(whole, tile), big_endian)),
                                       big_endian, false, tile)),
                (Numbers{1000, 2000, 3000, 4000, 65535, 0, 1, 256}));
      const std::vector<std::vector<float>> floats{{1, 2, 3, 4},
                                                   {-1.5f, std::numeric_limits<float>::infinity(), 1e-30f, 0.1f}};
      EXPECT_EQ(values_of(folder, tiff(predicted(32, 3, 3, tile), deflated(floating(padded(floats, tile))), big_endian,
                                       false, tile)),
                (Numbers{1, 2, 3, 4, -1.5, std::numeric_limits<float>::infinity(), 1e-30f, 0.1f}));
    }
}

// ---- layouts, by libtiff

struct Layout {
  bool planar, tiled;
  int compression;
  const char* mode;
};

std::string written_by_libtiff(const Folder& folder, const Layout& layout, int samples, int rows_per_strip) {
  const std::string path = folder.file("layout.tif");
  TIFF* t = TIFFOpen(path.c_str(), layout.mode);
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 37);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, 29);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 16);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, samples);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, layout.planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(t, TIFFTAG_COMPRESSION, layout.compression);
  const int side = layout.tiled ? 16 : 0, planes = layout.planar ? samples : 1, together = samples / planes;
  const auto value = [](int x, int y, int c) { return static_cast<std::uint16_t>(1000 * c + 100 * y + x); };
  if (layout.tiled) {
    TIFFSetField(t, TIFFTAG_TILEWIDTH, side);
    TIFFSetField(t, TIFFTAG_TILELENGTH, side);
    std::vector<std::uint16_t> tile(static_cast<std::size_t>(side * side * together));
    for (int p = 0; p < planes; ++p)
      for (int y0 = 0; y0 < 29; y0 += side)
        for (int x0 = 0; x0 < 37; x0 += side) {
          for (int i = 0; i < side * side; ++i)
            for (int c = 0; c < together; ++c)
              tile[i * together + c] = value(x0 + i % side, y0 + i / side, planes > 1 ? p : c);
          TIFFWriteTile(t, tile.data(), x0, y0, 0, static_cast<std::uint16_t>(p));
        }
  } else {
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, rows_per_strip);
    std::vector<std::uint16_t> row(static_cast<std::size_t>(37 * together));
    for (int p = 0; p < planes; ++p)
      for (int y = 0; y < 29; ++y) {
        for (int i = 0; i < 37 * together; ++i) row[i] = value(i / together, y, planes > 1 ? p : i % together);
        TIFFWriteScanline(t, row.data(), y, static_cast<std::uint16_t>(p));
      }
  }
  TIFFClose(t);
  return path;
}

TEST(TiffLayouts, PlanarTiledStripedAndCompressedAreAlike) {
  const Folder folder;
  for (bool planar : {false, true})
    for (bool tiled : {false, true})
      for (int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS})
        for (const char* mode : {"wl", "wb", "w8"})
          for (int channels : {1, 3}) {
            const Image image = copy_of(
                read_file(written_by_libtiff(folder, {planar, tiled, compression, mode}, channels, 7)).pages.at(0));
            ASSERT_EQ(image.desc().channels, channels);
            for (int y = 0; y < 29; ++y)
              for (int x = 0; x < 37; ++x)
                for (int c = 0; c < channels; ++c)
                  ASSERT_EQ(sample(image, x, y, 0, c), 1000 * c + 100 * y + x)
                      << "planar " << planar << " tiled " << tiled << " compression " << compression << " " << mode;
          }
}

TEST(TiffLayouts, AMissingStripIsRefused) {
  const Folder folder;
  const std::string bytes = get(written_by_libtiff(folder, {false, false, COMPRESSION_NONE, "wl"}, 1, 7));
  std::vector<Tag> list = tags(37, 29, 16);
  EXPECT_NE(refusal_of(folder, tiff(list, std::string(37 * 28 * 2, 'x'))), "");
}

// ---- pages and descriptions

std::string with_page(TIFF* t, int width, int height, int bits, int samples) {
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, samples);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  std::string row(static_cast<std::size_t>(width * samples * bits / 8), '\7');
  for (int y = 0; y < height; ++y) TIFFWriteScanline(t, row.data(), y, 0);
  TIFFWriteDirectory(t);
  return row;
}

TEST(TiffPages, OfDifferentSizesKeepThem) {
  const Folder folder;
  const std::string path = folder.file("pages.tif");
  TIFF* t = TIFFOpen(path.c_str(), "w");
  with_page(t, 5, 7, 16, 1);
  with_page(t, 3, 4, 8, 1);
  with_page(t, 6, 2, 8, 3);
  TIFFClose(t);
  const ReadResult read = read_file(path);
  ASSERT_EQ(read.pages.size(), 3u);
  EXPECT_EQ(describe(read.pages[0].desc()), "5x7 uint16");
  EXPECT_EQ(describe(read.pages[1].desc()), "3x4 uint8");
  EXPECT_EQ(describe(read.pages[2].desc()), "6x2 uint8 RGB");
}

TEST(TiffPages, OrientationIsApplied) {
  const Folder folder;
  // The first row of the stored 3 x 2 image is 1 2 3, the second 4 5 6.
  const Numbers seen[] = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
                          {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int o = 1; o <= 8; ++o) {
    std::vector<Tag> list = tags(3, 2, 8);
    list.push_back({274, 3, {std::uint64_t(o)}});
    const ReadResult read = read_bytes(folder, tiff(list, "\1\2\3\4\5\6"));
    EXPECT_EQ(samples(read.pages[0]), seen[o - 1]) << o;
    EXPECT_EQ(read.pages[0].desc().extent, o < 5 ? (Extent{3, 2, 1}) : (Extent{2, 3, 1})) << o;
  }
}

Geometry geometry_of(const Folder& folder, const std::vector<Tag>& more) {
  std::vector<Tag> list = tags(2, 1, 8);
  for (const Tag& t : more) list.push_back(t);
  return read_bytes(folder, tiff(list, "\1\2")).pages.at(0).desc().geometry;
}

TEST(TiffSpacing, ComesFromResolutionAndDescription) {
  const Folder folder;
  const std::vector<Tag> two_per_unit{{282, 5, {2, 1}}, {283, 5, {2, 1}}, {296, 3, {1}}};
  std::vector<Tag> list = two_per_unit;
  list.push_back(text(270, "ImageJ=1.53t\nimages=6\nslices=6\nunit=micron\nspacing=2.5\n"));
  // One directory: the slices that the description counts follow the first one.
  std::vector<Tag> stack = tags(2, 1, 8);
  for (const Tag& t : list) stack.push_back(t);
  const ReadResult read = read_bytes(folder, tiff(stack, "\1\2\3\4\5\6\7\x8\x9\xa\xb\xc"));
  ASSERT_EQ(read.pages.size(), 6u);
  EXPECT_EQ(samples(read.pages[5]), (Numbers{11, 12}));
  EXPECT_EQ(read.pages[0].desc().geometry.spacing, (std::array<double, 3>{0.5, 0.5, 2.5}));
  EXPECT_EQ(read.pages[0].desc().geometry.unit, "um");
  const Geometry dpi = geometry_of(folder, {{282, 5, {254, 1}}, {283, 5, {508, 1}}, {296, 3, {2}}});
  EXPECT_NEAR(dpi.spacing[0], 0.1, 1e-9);
  EXPECT_NEAR(dpi.spacing[1], 0.05, 1e-9);
  EXPECT_EQ(dpi.unit, "mm");
}

TEST(TiffSpacing, IsPixelsWhereNothingGoodIsSaid) {
  const Folder folder;
  const std::vector<std::vector<Tag>> cases{
      {},
      {text(270, "ImageJ=1.53t\nimages=1\n")},
      {text(270, "ImageJ=1.53t\nspacing=oops\nunit=\n")},
      {{282, 5, {0, 0}}, {283, 5, {0, 1}}, {296, 3, {2}}},
      {{282, 5, {0, 1}}, {283, 5, {0, 0}}, {296, 3, {3}}, text(270, "ImageJ=1\nunit=mm\nspacing=-0\n")}};
  for (const auto& more : cases) {
    const Geometry g = geometry_of(folder, more);
    EXPECT_EQ(g.spacing, (std::array<double, 3>{1, 1, 1}));
    EXPECT_EQ(g.unit, "pixel");
  }
}

TEST(TiffPages, AHyperstackSaysWhatItsPagesAre) {
  const Folder folder;
  std::vector<Tag> list = tags(2, 1, 8);
  list.push_back(text(270, "ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\n"));
  const std::string path = folder.file("hyper.tif");
  put(path, tiff(list, std::string(24, '\1')));
  const FileInfo info = format_of_file(path).read_info(path);
  EXPECT_EQ(info.pages.size(), 12u);
  EXPECT_FALSE(info.declares_volume);
  EXPECT_FALSE(info.notes.empty());
}

TEST(TiffBombs, AreRefusedBeforeMemoryIsTaken) {
  const Folder folder;
  EXPECT_NE(refusal_of(folder, tiff(tags(60000, 60000, 16), "xx")), "");
  std::vector<Tag> list = tags(2, 1, 8);
  list.push_back(text(270, "ImageJ=1.53t\nimages=2000000000\nslices=2000000000\n"));
  std::vector<Tag> tile = predicted(16, 1, 2, true);
  set(tile, {322, 4, {32768}});
  set(tile, {323, 4, {32768}});
  EXPECT_NE(refusal_of(folder, tiff(tile, deflated("short"), false, false, true)).find("impossible tiles"),
            std::string::npos);
  EXPECT_NE(refusal_of(folder, tiff(list, "\1\2\3\4")), "");
}

TEST(TiffSides, OfAMillionPixelsAndMoreAreRead) {
  const Folder folder;
  for (std::int64_t height : {1'048'576, 1'200'000}) {
    const std::string path = folder.file("tall.tif");
    format_for_output(path)->write(path, pages_of(random_image(make_desc(DType::u8, {4, height}), 1)), {});
    EXPECT_EQ(read_file(path).pages[0].desc().extent.height, height);
  }
}

TEST(TiffProfile, ThatIsNotKeptIsNoted) {
  const Folder folder;
  std::vector<Tag> list = tags(2, 1, 8);
  list.push_back({34675, 1, std::vector<std::uint64_t>(3000, 7)});
  list.push_back(text(270, "scanned by hand"));
  const ReadResult read = read_bytes(folder, tiff(list, "\1\2"));
  EXPECT_EQ(read.notes, (std::vector<std::string>{"ICC profile not kept", "description not kept"}));
}

}  // namespace
}  // namespace imgpipe::test
