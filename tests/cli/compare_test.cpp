// `imgpipe compare`: geometry first, then every sample; exit codes, measures, folders and maps.
#include <cmath>
#include <limits>

#include "tests/cli/program.h"

namespace imgpipe::test {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

class Compare : public Cli {
 protected:
  static void save_pages(const std::string& path, int pages, std::int64_t height = 4) {
    std::vector<Image> images;
    for (int i = 0; i < pages; ++i) images.push_back(flat<std::uint8_t>(4, height, i));
    format_for_output(path)->write(path, images, {});
  }
  template <class T>
  static Image flat(std::int64_t width, std::int64_t height, double value, int channels = 1, bool alpha = false) {
    return image_of<T>(width, height, std::vector<double>(width * height * channels, value), channels, alpha);
  }
  static Image spaced(double spacing, double origin, const char* unit) {
    ImageDesc desc = make_desc(DType::u8, {4, 4});
    desc.geometry.spacing = {spacing, spacing, 1};
    desc.geometry.origin = {origin, 0, 0};
    desc.geometry.unit = unit;
    return random_image(desc, 1);
  }
  /// The exit code for two images saved with this suffix.
  int code(const Image& a, const Image& b, const std::string& options = "", const std::string& suffix = ".npy") {
    save(at("a" + suffix), a);
    save(at("b" + suffix), b);
    const Outcome outcome = imgpipe("compare a" + suffix + " b" + suffix + " " + options);
    out_ = outcome.out;
    EXPECT_EQ(outcome.err, "");
    return outcome.code;
  }

  std::string out_;
};

TEST_F(Compare, NeverComparesImagesThatAreNotAlike) {
  EXPECT_EQ(code(flat<std::uint8_t>(4, 4, 0), flat<std::uint8_t>(4, 5, 0)), 4);
  EXPECT_TRUE(has(out_, "not comparable: 4x4 uint8 against 4x5 uint8")) << out_;
  EXPECT_EQ(code(flat<std::uint8_t>(4, 4, 0), flat<std::uint8_t>(5, 4, 0)), 4);
  EXPECT_EQ(code(flat<std::uint8_t>(4, 4, 7), flat<std::uint8_t>(4, 4, 7, 3), "", ".png"), 4) << "gray and RGB 7, 7, 7";
  EXPECT_EQ(code(flat<std::uint8_t>(4, 4, 7, 3), flat<std::uint8_t>(4, 4, 7, 4, true), "", ".png"), 4);
  EXPECT_EQ(code(flat<std::uint8_t>(1, 1, 200), flat<std::uint16_t>(1, 1, 200)), 4);
  EXPECT_TRUE(has(out_, "--ignore-dtype")) << out_;
  EXPECT_EQ(code(flat<std::uint8_t>(1, 1, 200), flat<std::uint16_t>(1, 1, 200), "--ignore-dtype"), 0);
  EXPECT_EQ(code(flat<std::uint8_t>(1, 1, 200), flat<std::uint16_t>(1, 1, 201), "--ignore-dtype"), 1);
  EXPECT_EQ(code(flat<std::uint8_t>(4, 4, 0), flat<std::uint16_t>(4, 5, 0), "--ignore-dtype"), 4);
  EXPECT_EQ(code(image_of<float>(2, 2, {0, 0, 0, 0, 0, 0, 0, 0}, 1, false, 2), flat<float>(2, 2, 0)), 4) << "depth";
}

TEST_F(Compare, CountsPagesFirst) {
  save_pages(at("two.tif"), 2);
  save_pages(at("three.tif"), 3);
  const Outcome outcome = imgpipe("compare two.tif three.tif");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(has(outcome.out, "2 pages against 3")) << outcome.out;
  EXPECT_EQ(imgpipe("compare three.tif three.tif").code, 0);
}

TEST_F(Compare, WantsOneSpacing) {
  EXPECT_EQ(code(spaced(1, 0, "mm"), spaced(1.5, 0, "mm"), "", ".tif"), 4);
  EXPECT_TRUE(has(out_, "spacing") && has(out_, "--ignore-spacing")) << out_;
  EXPECT_EQ(code(spaced(1, 0, "mm"), spaced(1.5, 0, "mm"), "--ignore-spacing", ".tif"), 0);
  EXPECT_EQ(code(spaced(1, 0, "mm"), spaced(1, 0, "mm"), "", ".tif"), 0);
  EXPECT_EQ(code(spaced(1, 0, "mm"), spaced(1, 0, "pixel"), "", ".tif"), 4);
}

TEST_F(Compare, CountsADifferenceOfOneLevel) {
  const Image a = image_of<std::uint8_t>(1, 1, {0x8b, 0x40, 0x5f}, 3);
  const Image b = image_of<std::uint8_t>(1, 1, {0x8c, 0x40, 0x5f}, 3);
  EXPECT_EQ(code(a, b, "", ".png"), 1);
  EXPECT_TRUE(has(out_, "1 of 3 samples differ; max 1, mean 0.333333, RMSE 0.57735")) << out_;
  EXPECT_TRUE(has(out_, "first at (0, 0) channel R: 139 against 140")) << out_;
  EXPECT_EQ(code(flat<std::uint16_t>(3, 2, 1000), flat<std::uint16_t>(3, 2, 1001)), 1);
  EXPECT_TRUE(has(out_, "6 of 6 samples differ; max 1, mean 1, RMSE 1, PSNR 96.3295 dB")) << out_;
}

struct Tolerance {
  const char* name;
  double a, b;
  const char* tolerance;
  int code;
};
void PrintTo(const Tolerance& row, std::ostream* out) { *out << row.name; }

class Tolerances : public Compare, public testing::WithParamInterface<Tolerance> {};

TEST_P(Tolerances, AreInUnitsOfTheSamplesAndInclusive) {
  const Tolerance& t = GetParam();
  EXPECT_EQ(code(flat<double>(2, 2, t.a), flat<double>(2, 2, t.b), std::string("--tolerance ") + t.tolerance), t.code);
  EXPECT_EQ(code(flat<double>(2, 2, t.b), flat<double>(2, 2, t.a), std::string("--tolerance ") + t.tolerance), t.code);
}

INSTANTIATE_TEST_SUITE_P(Cli, Tolerances,
                         testing::Values(Tolerance{"equal", 1, 1, "0", 0}, Tolerance{"just_met", 1, 2, "1", 0},
                                         Tolerance{"just_missed", 1, 2, "0.999", 1},
                                         Tolerance{"no_percentage", 0, 2, "1", 1},
                                         Tolerance{"tiny", 1, 1.0000000000000002, "0", 1},
                                         Tolerance{"zeros", 0.0, -0.0, "0", 0}, Tolerance{"two_nan", nan, nan, "0", 0},
                                         Tolerance{"nan_and_number", nan, 0, "1e300", 1},
                                         Tolerance{"nan_and_infinity", nan, infinity, "1e300", 1},
                                         Tolerance{"two_infinities", infinity, infinity, "0", 0},
                                         Tolerance{"opposite_infinities", infinity, -infinity, "1e300", 1},
                                         Tolerance{"infinity_and_number", infinity, 1e300, "1e300", 1}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(Compare, TellsWhatLiesWithinTheTolerance) {
  EXPECT_EQ(code(flat<std::uint8_t>(2, 2, 10), flat<std::uint8_t>(2, 2, 12), "-t 2"), 0);
  EXPECT_TRUE(has(out_, "0 of 4 samples differ by more than the tolerance; max 2")) << out_;
}

TEST_F(Compare, CountsAlphaLikeAnyChannel) {
  const Image a = image_of<std::uint8_t>(2, 1, {1, 2, 3, 255, 1, 2, 3, 255}, 4, true);
  const Image b = image_of<std::uint8_t>(2, 1, {1, 2, 3, 255, 1, 2, 3, 254}, 4, true);
  EXPECT_EQ(code(a, b, "", ".png"), 1);
  EXPECT_TRUE(has(out_, "1 of 8 samples differ")) << out_;
  EXPECT_TRUE(has(out_, "first at (1, 0) channel alpha: 255 against 254")) << out_;
}

TEST_F(Compare, NamesThePlaceInAVolume) {
  std::vector<double> values(24, 5);
  const Image a = image_of<std::uint8_t>(2, 3, values, 1, false, 4);
  values[2 * 6 + 1 * 2 + 1] = 9;
  EXPECT_EQ(code(a, image_of<std::uint8_t>(2, 3, values, 1, false, 4)), 1);
  EXPECT_TRUE(has(out_, "first at (1, 1, 2) channel 0: 5 against 9")) << out_;
}

TEST_F(Compare, OfAnyImageWithItselfIsEqual) {
  const Image images[] = {flat<std::uint8_t>(9, 9, 0),
                          flat<std::uint8_t>(9, 9, 255, 4, true),
                          flat<std::uint16_t>(1, 1, 65535),
                          flat<float>(9, 9, nan),
                          flat<float>(9, 9, infinity),
                          image_of<float>(3, 1, {nan, 1, -infinity}),
                          random_image(make_desc(DType::f64, {31, 17}, 3), 1),
                          random_image(make_desc(DType::i32, {31, 17}), 2)};
  for (const Image& image : images) {
    save(at("a.npy"), image);
    const Outcome outcome = imgpipe("compare a.npy a.npy");
    EXPECT_EQ(outcome.code, 0) << describe(image.desc());
    EXPECT_EQ(outcome.out, "a.npy: equal (" + describe(load(at("a.npy")).desc()) + "; PSNR inf, SSIM 1)\n");
  }
}

TEST_F(Compare, MeasuresAreNumbersWithinTheirRange) {
  EXPECT_EQ(code(flat<float>(4, 4, nan), flat<float>(4, 4, 0)), 1);
  EXPECT_TRUE(has(out_, "max inf, mean inf, RMSE inf, PSNR -inf dB, SSIM 0.000000")) << out_;
  EXPECT_EQ(code(flat<std::uint8_t>(8, 8, 0), flat<std::uint8_t>(8, 8, 255)), 1);
  EXPECT_TRUE(has(out_, "PSNR 0 dB, SSIM 0.000100")) << out_;
  EXPECT_EQ(code(image_of<float>(3, 1, {nan, 0.5, 1}), image_of<float>(3, 1, {nan, 0.5, 0.75})), 1);
  EXPECT_TRUE(has(out_, "1 of 3 samples differ; max 0.25, mean 0.0833333")) << out_;
  EXPECT_EQ(code(random_image(make_desc(DType::u8, {64, 64}), 1), random_image(make_desc(DType::u8, {64, 64}), 2)), 1);
  const double ssim = std::stod(out_.substr(out_.find("SSIM ") + 5));
  EXPECT_LT(std::abs(ssim), 0.1) << "unlike images";
}

TEST_F(Compare, UsageErrorsAreNoVerdicts) {
  save(at("a.png"), gray_);
  save(at("b.png"), gray_);
  save(at("d/a.png"), gray_);
  for (const char* line : {"", "a.png", "a.png b.png d", "a.png missing.png", "a.png d", "d a.png", "a.png b.png -t -1",
                           "a.png b.png -t nan", "a.png b.png -t inf", "a.png b.png -t x", "a.png b.png --tolerence 1",
                           "a.png b.png --heatmap h.xyz", "a.png b.png --heatmap h.npz", "a.png b.png --heatmap b.png",
                           "a.png b.png --heatmap './{name}'", "a.png b.png --heatmap '{x}.png'"})
    EXPECT_EQ(imgpipe(std::string("compare ") + line).code, 2) << line;
  EXPECT_EQ(get(at("a.png")), get(at("b.png")));
}

TEST_F(Compare, AnUnreadableFileIsNotComparable) {
  save(at("a.png"), gray_);
  put(at("b.png"), "x");
  const Outcome outcome = imgpipe("compare a.png b.png");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(has(outcome.err, "error: b.png: ")) << outcome.err;
}

// ---- maps

TEST_F(Compare, MapsShowWhereAndHowMuch) {
  save(at("a.png"), image_of<std::uint8_t>(3, 1, {10, 10, 10}));
  save(at("b.png"), image_of<std::uint8_t>(3, 1, {10, 11, 90}));
  EXPECT_EQ(imgpipe("compare a.png b.png --heatmap maps/h.png").code, 1);
  const Image map = load(at("maps/h.png"));
  EXPECT_EQ(describe(map.desc()), "3x1 uint8 RGB");
  const auto heat = [&](int x) { return sample(map, x, 0, 0, 0) + sample(map, x, 0, 0, 1) + sample(map, x, 0, 0, 2); };
  EXPECT_EQ(heat(0), 0) << "black where equal";
  EXPECT_GT(heat(1), 100) << "the least difference is seen";
  EXPECT_EQ(heat(2), 3 * 255) << "white at the largest";
}

TEST_F(Compare, AMapThatCannotBeWrittenIsNoVerdictOnTheImages) {
  save(at("a.png"), gray_);
  put(at("file"), "x");
  const Outcome outcome = imgpipe("compare a.png a.png --heatmap file/h.png");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome.err, "error: ")) << outcome.err;
}

// ---- folders

TEST_F(Compare, FoldersByTheirFilesNames) {
  for (const char* name :
       {"l/a.png", "r/a.png", "l/sub/b.tif", "r/sub/b.tif", "l/10.png", "r/10.png", "l/9.png", "r/9.png"})
    save(at(name), gray_);
  const Outcome equal = imgpipe("compare l r");
  EXPECT_EQ(equal.code, 0);
  const auto lines = lines_of(equal.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].rfind("9.png: equal", 0), 0u) << equal.out;
  EXPECT_EQ(lines[1].rfind("10.png: equal", 0), 0u);
  EXPECT_EQ(lines[3].rfind("sub/b.tif: equal", 0), 0u);
  EXPECT_EQ(imgpipe("compare l/ ./r/").code, 0);
  save(at("r/sub/b.tif"), random_image(gray_.desc(), 2));
  EXPECT_EQ(imgpipe("compare l r").code, 1);
}

TEST_F(Compare, FoldersWithOtherFilesAreNotComparable) {
  for (const char* name : {"l/a.png", "r/a.png", "l/only_l.png", "r/only_r.png"}) save(at(name), gray_);
  const Outcome outcome = imgpipe("compare l r");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(has(outcome.out, "a.png: equal")) << "what can be compared is";
  EXPECT_TRUE(has(outcome.out, "only_l.png: only in l")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "only_r.png: only in r")) << outcome.out;
}

TEST_F(Compare, TheWorstOfAFolderIsItsCode) {
  for (const char* name : {"l/a.png", "l/b.png", "l/c.png", "r/c.png"}) save(at(name), gray_);
  save(at("r/a.png"), random_image(gray_.desc(), 2));
  put(at("r/b.png"), "x");
  const Outcome outcome = imgpipe("compare l r");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(has(outcome.err, "error: r/b.png: ")) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).size(), 3u) << "two lines for what differs, one for what is equal: " << outcome.out;
}

TEST_F(Compare, LinksInFoldersAreFilesOfTheirOwnName) {
  for (const char* name : {"l/a.png", "l/b.png", "r/a.png"}) save(at(name), gray_);
  fs::create_symlink("../l/a.png", at("r/b.png"));
  EXPECT_EQ(imgpipe("compare l r").code, 0);
}

TEST_F(Compare, FoldersGiveOneMapAFile) {
  for (const char* name : {"l/a.png", "r/a.png", "l/b.png", "r/b.png"}) save(at(name), gray_);
  save(at("r/b.png"), random_image(gray_.desc(), 2));
  EXPECT_EQ(imgpipe("compare l r --heatmap h.png").code, 2) << "one would replace the other";
  EXPECT_FALSE(fs::exists(at("h.png")));
  EXPECT_EQ(imgpipe("compare l r --heatmap 'maps/{stem}.png'").code, 1);
  EXPECT_EQ(samples(load(at("maps/a.png"))), std::vector<double>(40 * 30 * 3, 0));
  EXPECT_TRUE(fs::exists(at("maps/b.png")));
}

}  // namespace
}  // namespace imgpipe::test
