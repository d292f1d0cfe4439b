// Every format: what is written is read back bit for bit, headers agree with pixels, and broken files are refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "io/formats/format.h"
#include "io/formats/tiff/tiff.h"
#include "tests/io/files.h"
#include "tests/support/chain.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;

/// Writes, and reads all pages back by content.
ReadResult round_trip(const std::string& path, const std::vector<Image>& pages) {
  format_for_output(path)->write(path, pages, {});
  const Format& format = format_of_file(path);
  const FileInfo info = format.read_info(path);
  ReadResult read = format.read(path, 0, info.pages.size());
  EXPECT_EQ(read.pages.size(), info.pages.size());
  for (std::size_t i = 0; i < read.pages.size(); ++i)
    EXPECT_TRUE(read.pages[i].desc() == info.pages[i]) << path << " page " << i;
  return read;
}

struct FormatCase {
  const char* suffix;
  std::vector<DType> dtypes;
  std::vector<int> channels;
};

class Lossless : public testing::TestWithParam<FormatCase> {};

TEST_P(Lossless, ReadsBackWhatItWrote) {
  const Folder folder;
  const FormatCase& f = GetParam();
  for (DType dtype : f.dtypes)
    for (int channels : f.channels)
      for (const Extent& extent : {Extent{1, 1}, Extent{1, 9}, Extent{13, 1}, Extent{31, 17}, Extent{300, 200}}) {
        const Image image = random_image(make_desc(dtype, extent, channels, channels == 2 || channels == 4), 31);
        const ReadResult read = round_trip(folder.file(std::string("a") + f.suffix), pages_of(copy_of(image)));
        ASSERT_EQ(read.pages.size(), 1u);
        Image back = copy_of(read.pages[0]);
        // An array of numbers does not say that its last channel is alpha, nor that one plane is no volume.
        if (std::string(f.suffix) == ".npy") back.desc().alpha = image.desc().alpha;
        ASSERT_EQ(difference(image, back), "") << f.suffix;
      }
}

const std::vector<DType> every_dtype(std::begin(all_dtypes), std::end(all_dtypes));
INSTANTIATE_TEST_SUITE_P(Formats, Lossless,
                         testing::Values(FormatCase{".png", {DType::u8, DType::u16}, {1, 2, 3, 4}},
                                         FormatCase{".tif", every_dtype, {1, 2, 3, 4, 5}},
                                         FormatCase{".npy", every_dtype, {1, 3, 4}},
                                         FormatCase{".pnm", {DType::u8, DType::u16}, {1, 3}},
                                         FormatCase{".pam", {DType::u8, DType::u16}, {1, 2, 3, 4, 5}},
                                         FormatCase{".pfm", {DType::f32}, {1, 3}},
                                         FormatCase{".bmp", {DType::u8}, {1, 3, 4}}),
                         [](const auto& info) { return std::string(info.param.suffix).substr(1); });

TEST(Volumes, ReadBackWithTheirSlicesAndSpacing) {
  const Folder folder;
  for (const char* suffix : {".tif", ".npy"})
    for (DType dtype : all_dtypes) {
      Image volume = random_image(make_desc(dtype, {7, 5, 6}, 1, false, true), 3);
      if (std::string(suffix) == ".tif") volume.desc().geometry = {{0.5, 0.25, 2}, {0, 0, 0}, "um"};
      const std::string path = folder.file(std::string("v") + suffix);
      const ReadResult read = round_trip(path, pages_of(copy_of(volume)));
      EXPECT_TRUE(format_of_file(path).read_info(path).declares_volume);
      std::vector<std::byte> samples;
      for (const Image& page : read.pages)
        samples.insert(samples.end(), page.data(), page.data() + page.desc().bytes());
      ASSERT_EQ(samples.size(), static_cast<std::size_t>(volume.desc().bytes()));
      EXPECT_EQ(std::memcmp(samples.data(), volume.data(), samples.size()), 0) << suffix;
      for (int a = 0; a < 3; ++a)
        EXPECT_NEAR(read.pages[0].desc().geometry.spacing[a], volume.desc().geometry.spacing[a], 1e-6) << suffix;
      EXPECT_EQ(read.pages[0].desc().geometry.unit, volume.desc().geometry.unit);
    }
}

cv::Mat read_by_opencv(const std::string& path) { return cv::imread(path, cv::IMREAD_UNCHANGED); }

TEST(Png, AndTiffAreReadAlikeByOpenCv) {
  const Folder folder;
  for (const char* suffix : {".png", ".tif"})
    for (DType dtype : {DType::u8, DType::u16})
      for (int channels : {1, 3}) {
        const Image image = random_image(make_desc(dtype, {37, 23}, channels), 5);
        const std::string path = folder.file(std::string("cv") + suffix);
        format_for_output(path)->write(path, pages_of(copy_of(image)), {});
        const cv::Mat mat = read_by_opencv(path);
        ASSERT_EQ(mat.cols, 37);
        ASSERT_EQ(mat.channels(), channels);
        for (int y = 0; y < 23; ++y)
          for (int x = 0; x < 37; ++x)
            for (int c = 0; c < channels; ++c) {
              const int k = x * channels + (channels == 3 ? 2 - c : c);  // BGR
              const double theirs = dtype == DType::u8 ? mat.ptr<std::uint8_t>(y)[k] : mat.ptr<std::uint16_t>(y)[k];
              ASSERT_EQ(theirs, sample(image, x, y, 0, c)) << suffix;
            }
      }
}

TEST(Tiff, WrittenByOpenCvIsReadAlike) {
  const Folder folder;
  for (int type : {CV_8UC1, CV_16UC1, CV_16UC3, CV_32FC1, CV_64FC1, CV_8SC1, CV_16SC1, CV_32SC1}) {
    cv::Mat mat(19, 27, type);
    cv::randu(mat, 0, 120);
    const std::string path = folder.file("by_cv.tif");
    ASSERT_TRUE(cv::imwrite(path, mat));
    const ReadResult read = format_of_file(path).read(path, 0, 1);
    const std::vector<double> values = samples(read.pages[0]);
    cv::Mat wide;
    mat.convertTo(wide, CV_64F);
    const int channels = mat.channels();
    for (int y = 0; y < 19; ++y)
      for (int k = 0; k < 27 * channels; ++k) {
        const int from = channels == 3 ? k / 3 * 3 + 2 - k % 3 : k;
        ASSERT_EQ(values[y * 27 * channels + k], wide.ptr<double>(y)[from]) << "type " << type;
      }
  }
}

TEST(Jpeg, OfSmoothImagesIsCloseAndReadAlikeByOpenCv) {
  const Folder folder;
  Image image(make_desc(DType::u8, {64, 48}, 3));
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      for (int c = 0; c < 3; ++c)
        image.samples<std::uint8_t>()[(y * 64 + x) * 3 + c] = static_cast<std::uint8_t>(2 * x + y + 20 * c);
  const std::string path = folder.file("a.jpg");
  const ReadResult read = round_trip(path, pages_of(copy_of(image)));
  const cv::Mat mat = read_by_opencv(path);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      for (int c = 0; c < 3; ++c) {
        ASSERT_NEAR(sample(read.pages[0], x, y, 0, c), sample(image, x, y, 0, c), 12);
        ASSERT_NEAR(sample(read.pages[0], x, y, 0, c), mat.ptr<std::uint8_t>(y)[3 * x + 2 - c], 2);
      }
}

TEST(Writers, KeepSixteenBits) {
  const Folder folder;
  const Image image = image_of<std::uint16_t>(4, 1, {0, 255, 2500, 65535});
  for (const char* suffix : {".png", ".tif", ".npy", ".pgm", ".pam"})
    EXPECT_EQ(samples(round_trip(folder.file(std::string("d") + suffix), pages_of(copy_of(image))).pages[0]),
              (std::vector<double>{0, 255, 2500, 65535}))
        << suffix;
}

TEST(Broken, FilesAreRefusedAtEveryLength) {
  const Folder folder;
  const Image noise = random_image(make_desc(DType::u8, {64, 64}), 9);
  for (const char* suffix : {".png", ".tif", ".npy", ".jpg", ".pnm", ".pam", ".bmp"}) {
    const std::string good = folder.file(std::string("good") + suffix), bad = folder.file(std::string("bad") + suffix);
    format_for_output(good)->write(good, pages_of(copy_of(noise)), {});
    const std::string bytes = get(good);
    std::vector<std::size_t> lengths = {bytes.size() / 2, bytes.size() * 9 / 10};
    for (std::size_t n = 0; n <= 32; ++n) lengths.push_back(n);
    for (std::size_t n : lengths) {
      put(bad, bytes.substr(0, n));
      EXPECT_THROW(format_of_file(bad).read(bad, 0, 1), InputError) << suffix << " cut to " << n;
    }
  }
}

TEST(Broken, PngWithAFlippedByteIsRefused) {
  const Folder folder;
  const std::string path = folder.file("f.png");
  format_for_output(path)->write(path, pages_of(random_image(make_desc(DType::u8, {64, 64}), 9)), {});
  std::string bytes = get(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  put(path, bytes);
  EXPECT_THROW(format_of_file(path).read(path, 0, 1), InputError);
}

TEST(Broken, JpegWithoutItsEndMarkerIsReadWithAWarning) {
  const Folder folder;
  const std::string path = folder.file("e.jpg");
  format_for_output(path)->write(path, pages_of(random_image(make_desc(DType::u8, {64, 64}), 9)), {});
  const Image whole = copy_of(format_of_file(path).read(path, 0, 1).pages[0]);
  const std::string bytes = get(path);
  put(path, bytes.substr(0, bytes.size() - 2));
  const ReadResult read = format_of_file(path).read(path, 0, 1);
  EXPECT_EQ(difference(whole, read.pages[0]), "");
  EXPECT_EQ(read.warnings.size(), 1u);
}

TEST(Broken, EmptyAndUnknownFilesSayWhatTheyAre) {
  const Folder folder;
  put(folder.file("empty.png"), "");
  put(folder.file("text.png"), "hello, this is text");
  for (const auto& [name, word] : {std::pair("empty.png", "empty file"), std::pair("text.png", "known format")}) {
    try {
      format_of_file(folder.file(name));
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
}

TEST(Writers, SayWhatTheyCannotHold) {
  const auto why = [](const char* path, const ImageDesc& desc, std::size_t pages = 1) {
    return format_for_output(path)->cannot_hold(path, desc, pages).value_or("");
  };
  EXPECT_NE(why("a.jpg", make_desc(DType::u16, {2, 2})), "");
  EXPECT_NE(why("a.jpg", make_desc(DType::u8, {2, 2}, 4, true)), "");
  EXPECT_NE(why("a.png", make_desc(DType::f32, {2, 2})), "");
  EXPECT_NE(why("a.png", make_desc(DType::u8, {2, 2}), 3), "");
  EXPECT_NE(why("a.png", make_desc(DType::u8, {2, 2, 5}, 1, false, true)), "");
  EXPECT_EQ(why("a.TIFF", make_desc(DType::f64, {2, 2, 5}, 3, false, true)), "");
  EXPECT_EQ(why("a.PNG", make_desc(DType::u16, {2, 2}, 3)), "");
}

TEST(Writers, ReportAFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "1 test skipped: no /dev/full";
  for (const char* format : {"a.npy", "a.jpg", "a.png", "a.pgm", "a.pam", "a.bmp"})
    EXPECT_THROW(
        format_for_output(format)->write("/dev/full", pages_of(random_image(make_desc(DType::u8, {200, 200}), 1)), {}),
        InputError)
        << format;
  EXPECT_THROW(
      format_for_output("a.pfm")->write("/dev/full", pages_of(random_image(make_desc(DType::f32, {9, 9}), 1)), {}),
      InputError);
  EXPECT_THROW(
      format_for_output("a.webp")->write("/dev/full", pages_of(random_image(make_desc(DType::u8, {9, 9}, 3), 1)), {}),
      InputError);
}

TEST(Tiff, BecomesBigWhenItCouldPassFourGigabytes) {
  EXPECT_FALSE(tiff::needs_big(1 << 20, 1, 8));
  EXPECT_TRUE(tiff::needs_big((std::int64_t(1) << 32) - 1 - 65536, 1, 16));
  EXPECT_TRUE(tiff::needs_big(std::int64_t(1) << 32, 1, 16));
}

TEST(Names, AreTakenLiterally) {
  const Folder folder;
  const Image image = image_of<std::uint8_t>(2, 1, {7, 9});
  for (const char* name : {"a%d.png", "b[0].png", "c d \xc3\xa4.png", "\xf0\x9f\x8c\x8d.tif", "-e.npy", "f\ng.png"}) {
    const std::string path = folder.file(name);
    EXPECT_EQ(samples(round_trip(path, pages_of(copy_of(image))).pages[0]), (std::vector<double>{7, 9})) << name;
  }
}

}  // namespace
}  // namespace imgpipe::test
