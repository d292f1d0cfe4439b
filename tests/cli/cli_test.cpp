// The program as a person uses it: exit codes, messages, batches on odd folders.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/formats/format.h"
#include "tests/support/chain.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code;
  std::string out, err;
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("imgpipe_cli_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "in");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  static std::string get(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void save(const std::string& path, const Image& image) {
    fs::create_directories(fs::path(path).parent_path());
    std::vector<Image> pages;
    pages.push_back(copy_of(image));
    format_for_output(path)->write(path, pages, {});
  }
  static Image load(const std::string& path) { return std::move(format_of_file(path).read(path, 0, 1).pages.at(0)); }

  /// Arguments as one would quote them in a shell.
  Outcome imgpipe(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.string() + "' && '" IMGPIPE_BINARY_DIR "/imgpipe' " + arguments +
                                " >'" + at("stdout") + "' 2>'" + at("stderr") + "' </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), get(at("stdout")), get(at("stderr"))};
  }
  void pipeline(const std::string& text) const { put(at("p.yaml"), text); }
  std::size_t leftovers() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      count += entry.path().filename().string().rfind(".imgpipe-", 0) == 0;
    return count;
  }

  fs::path folder_;
  const Image gray_ = random_image(make_desc(DType::u8, {40, 30}), 1);
};

TEST_F(Cli, HelpAndVersionOfEveryCommand) {
  EXPECT_EQ(imgpipe("--version").code, 0);
  EXPECT_EQ(imgpipe("--help").code, 0);
  for (const char* command : {"run", "check", "explain", "compare", "filters", "info", "devices", "bench"}) {
    const Outcome outcome = imgpipe(std::string(command) + " --help");
    EXPECT_EQ(outcome.code, 0) << command;
    EXPECT_NE(outcome.out.find("Usage: imgpipe " + std::string(command)), std::string::npos) << outcome.out;
  }
}

TEST_F(Cli, UsageErrorsExitTwoWithTheNearestName) {
  EXPECT_EQ(imgpipe("").code, 2);
  const Outcome unknown = imgpipe("rum");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("did you mean run"), std::string::npos);
  EXPECT_NE(imgpipe("run --bakend cpu p.yaml").err.find("did you mean --backend"), std::string::npos);
  EXPECT_EQ(imgpipe("run missing.yaml").code, 2);
  pipeline("steps: []\n");
  EXPECT_EQ(imgpipe("run p.yaml").code, 2) << "no input";
  EXPECT_EQ(imgpipe("run p.yaml -i nothing.png -o o.png").code, 2);
  EXPECT_EQ(imgpipe("run p.yaml -i in -o 'o/{stem}.png'").code, 2) << "an empty folder is nothing to do";
}

TEST_F(Cli, RunsAFolderInNaturalOrder) {
  for (int i : {10, 2, 1}) save(at("in/s_" + std::to_string(i) + ".png"), gray_);
  pipeline("input: in\noutput: out/{index}_{stem}.tif\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* name : {"out/1_s_1.tif", "out/2_s_2.tif", "out/3_s_10.tif"})
    EXPECT_TRUE(fs::exists(at(name))) << name;
  EXPECT_EQ(sample(load(at("out/1_s_1.tif")), 3, 4), 255 - sample(gray_, 3, 4));
  const auto report = nlohmann::json::parse(get(at("r.json")));
  EXPECT_EQ(report["files"].size(), 3u);
  EXPECT_EQ(report["files"][2]["status"], "done");
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(Cli, EveryBackendWritesTheSameBytes) {
  save(at("in/a.png"), gray_);
  pipeline("input: in/a.png\noutput: o.tif\nsteps:\n  - median: 1\n  - gaussian: 1.5\n  - normalize\n");
  ASSERT_EQ(imgpipe("run p.yaml --backend simple -o simple.tif").code, 0);
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu -o cpu.tif --verify").code, 0);
  EXPECT_EQ(get(at("simple.tif")), get(at("cpu.tif")));
  EXPECT_EQ(imgpipe("compare simple.tif cpu.tif").code, 0);
}

TEST_F(Cli, CudaThatIsNotThereExitsThree) {
  if (imgpipe("devices").code == 0) GTEST_SKIP() << "1 test skipped: there is a GPU";
  save(at("in/a.png"), gray_);
  pipeline("input: in/a.png\noutput: o.png\nsteps: []\n");
  EXPECT_EQ(imgpipe("run p.yaml --backend cuda").code, 3);
  EXPECT_FALSE(fs::exists(at("o.png")));
  EXPECT_EQ(imgpipe("run p.yaml").code, 0) << "auto takes the CPU";
}

TEST_F(Cli, OneBadFileDoesNotStopTheRest) {
  save(at("in/a.png"), gray_);
  save(at("in/c.png"), gray_);
  put(at("in/b.png"), "not an image");
  put(at("in/e.png"), "");
  save(at("in/d.jpg"), gray_);
  const std::string jpeg = get(at("in/d.jpg"));
  put(at("in/d.jpg"), jpeg.substr(0, jpeg.size() / 2));
  pipeline("input: in\noutput: out/{stem}.png\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  EXPECT_EQ(outcome.code, 1);
  for (const char* name : {"b.png", "d.jpg", "e.png"})
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
  EXPECT_TRUE(fs::exists(at("out/a.png")) && fs::exists(at("out/c.png")));
  EXPECT_FALSE(fs::exists(at("out/b.png")) || fs::exists(at("out/d.png")) || fs::exists(at("out/e.png")));
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(Cli, ContentDecidesTheFormatNotTheName) {
  save(at("x.png"), gray_);
  fs::rename(at("x.png"), at("in/b.jpg"));
  save(at("in/E.TIF"), gray_);
  pipeline("input: in\noutput: out/{stem}.npy\nsteps: []\n");
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu").code, 0);
  EXPECT_EQ(difference(gray_, load(at("out/b.npy"))), "");
  EXPECT_TRUE(fs::exists(at("out/E.npy")));
}

TEST_F(Cli, PassesOverDesktopFilesAndFollowsNoLoops) {
  save(at("in/a.png"), gray_);
  put(at("in/._a.png"), std::string("\0\5\26\7", 4));
  put(at("in/.DS_Store"), "x");
  put(at("in/Thumbs.db"), "x");
  put(at("in/desktop.ini"), "x");
  fs::create_directory_symlink(".", at("in/loop"));
  fs::create_directory_symlink("..", at("in/up"));
  fs::create_symlink("nowhere", at("in/dead.png"));
  pipeline("input: in\noutput: out/{stem}.png\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("link to nothing"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(at("out")), {}), 1);
}

TEST_F(Cli, NamesAreLiteral) {
  const std::vector<std::string> names = {"a%d",
                                          "a%%",
                                          "b[0]",
                                          "c:d",
                                          "-e",
                                          "f\ng",
                                          "*",
                                          "\xc3\xa4 \xc3\xb6 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\x93 1's",
                                          "\xf0\x9f\x8c\x8d",
                                          "trailing ",
                                          std::string(190, 'n')};
  for (const std::string& name : names) save(at("in/" + name + ".png"), gray_);
  pipeline("input: in\noutput: out dir/{stem}.png\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const std::string& name : names) EXPECT_TRUE(fs::exists(at("out dir/" + name + ".png"))) << name;
  EXPECT_EQ(nlohmann::json::parse(get(at("r.json")))["files"].size(), names.size());
}

TEST_F(Cli, CollisionsAndOverwritingInputsAreRefusedBeforeWork) {
  save(at("in/a.png"), gray_);
  save(at("in/a.tif"), gray_);
  pipeline("input: in\noutput: out/{stem}.png\nsteps: []\n");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu").code, 2);
  EXPECT_FALSE(fs::exists(at("out")));
  const Outcome same = imgpipe("run p.yaml --backend cpu -i in/a.png -o 'in/../in/{name}'");
  EXPECT_EQ(same.code, 2);
  EXPECT_NE(same.err.find("is an input"), std::string::npos);
}

TEST_F(Cli, AFormatThatCannotHoldTheResultIsRefusedBeforeWork) {
  save(at("in/a.png"), random_image(make_desc(DType::u16, {8, 8}), 1));
  pipeline("input: in\noutput: out/{stem}.jpg\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("JPEG holds"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(at("out")));
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu -o 'out/{stem}.xyz'").code, 2);
}

TEST_F(Cli, StacksSlicesAndRefusesHolesAndOddOnes) {
  for (int i : {9, 10, 11}) save(at("in/z" + std::to_string(i) + ".png"), image_of<std::uint8_t>(1, 1, {double(i)}));
  pipeline("input: in\noutput: v.npy\nvolume: stack\nsteps: []\n");
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu").code, 0);
  EXPECT_EQ(samples(load(at("v.npy"))), (std::vector<double>{9, 10, 11}));
  save(at("in/z13.png"), image_of<std::uint8_t>(1, 1, {13}));
  const Outcome hole = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(hole.code, 2);
  EXPECT_NE(hole.err.find("z13.png follows z11.png"), std::string::npos) << hole.err;
  save(at("in/z12.png"), image_of<std::uint8_t>(2, 1, {1, 2}));
  const Outcome odd = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(odd.code, 1);
  EXPECT_NE(odd.err.find("2x1"), std::string::npos) << odd.err;
}

TEST_F(Cli, LogsHaveNoCarriageReturnsAndStandardOutputIsClean) {
  for (int i = 0; i < 20; ++i) save(at("in/" + std::to_string(i) + ".png"), gray_);
  pipeline("input: in\noutput: out/{stem}.png\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos);
  EXPECT_EQ(outcome.err.find('\033'), std::string::npos);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Cli, JobsNeverChangeABit) {
  for (int i = 0; i < 12; ++i)
    save(at("in/" + std::to_string(i) + ".png"), random_image(make_desc(DType::u16, {61 + i, 47}), 40 + i));
  pipeline("input: in\noutput: out/{stem}.tif\nsteps:\n  - gaussian: 2\n  - normalize: {low: 1%, high: 99%}\n");
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu --jobs 1 -o 'one/{stem}.tif'").code, 0);
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu --jobs 8 -o 'many/{stem}.tif'").code, 0);
  EXPECT_EQ(imgpipe("compare one many").code, 0);
}

TEST_F(Cli, CompareTellsGeometryFirstThenSamples) {
  save(at("a.png"), image_of<std::uint8_t>(4, 4, std::vector<double>(16, 0)));
  save(at("b.png"), image_of<std::uint8_t>(4, 5, std::vector<double>(20, 0)));
  save(at("r.png"), image_of<std::uint8_t>(1, 1, {0x8b, 0x40, 0x5f}, 3));
  save(at("s.png"), image_of<std::uint8_t>(1, 1, {0x8c, 0x40, 0x5f}, 3));
  save(at("u8.png"), image_of<std::uint8_t>(1, 1, {200}));
  save(at("u16.png"), image_of<std::uint16_t>(1, 1, {200}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  save(at("n.npy"), image_of<float>(2, 1, {nan, 1}));
  save(at("m.npy"), image_of<float>(2, 1, {0, 1}));
  EXPECT_EQ(imgpipe("compare a.png b.png").code, 4);
  EXPECT_EQ(imgpipe("compare a.png a.png").code, 0);
  const Outcome one = imgpipe("compare r.png s.png");
  EXPECT_EQ(one.code, 1);
  EXPECT_NE(one.out.find("1 of 3 samples differ"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("(0, 0) channel R"), std::string::npos) << one.out;
  EXPECT_EQ(imgpipe("compare r.png s.png --tolerance 1").code, 0);
  EXPECT_EQ(imgpipe("compare u8.png u16.png").code, 4);
  EXPECT_EQ(imgpipe("compare u8.png u16.png --ignore-dtype").code, 0);
  EXPECT_EQ(imgpipe("compare a.png r.png").code, 4);
  EXPECT_EQ(imgpipe("compare n.npy n.npy").code, 0);
  EXPECT_EQ(imgpipe("compare n.npy m.npy --tolerance 1e30").code, 1) << "NaN is no number";
  EXPECT_EQ(imgpipe("compare a.png missing.png").code, 2);
  EXPECT_NE(imgpipe("compare a.png a.png").out.find("inf"), std::string::npos);
  EXPECT_EQ(imgpipe("compare r.png s.png --heatmap h.png").code, 1);
  EXPECT_EQ(load(at("h.png")).desc().channels, 3);
}

TEST_F(Cli, AnInterruptedRunLeavesNothingHalf) {
  for (int i = 0; i < 30; ++i)
    save(at("in/" + std::to_string(i) + ".npy"), random_image(make_desc(DType::u16, {900, 900}), i));
  pipeline("input: in\noutput: out/{stem}.tif\nsteps:\n  - gaussian: 20\n  - median: 4\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --jobs 2 & pid=$!; sleep 0.6; kill -INT $pid; wait $pid");
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(leftovers(), 0u);
  if (fs::exists(at("out"))) {
    for (const auto& entry : fs::directory_iterator(at("out"))) EXPECT_NO_THROW(load(entry.path().string()));
  }
}

TEST_F(Cli, ATerminatedRunExitsAsSuch) {
  for (int i = 0; i < 20; ++i)
    save(at("in/" + std::to_string(i) + ".npy"), random_image(make_desc(DType::u16, {900, 900}), i));
  pipeline("input: in\noutput: out/{stem}.tif\nsteps:\n  - gaussian: 20\n  - median: 4\n");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --jobs 2 & pid=$!; sleep 0.6; kill -TERM $pid; wait $pid").code, 143);
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(Cli, AKilledRunIsMadeGoodByTheNext) {
  for (int i = 0; i < 12; ++i)
    save(at("in/" + std::to_string(i) + ".npy"), random_image(make_desc(DType::u16, {700, 700}), i));
  pipeline("input: in\noutput: out/{stem}.tif\nsteps:\n  - gaussian: 9\n");
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu -o 'clean/{stem}.tif'").code, 0);
  for (const char* pause : {"0.05", "0.2", "0.4"})
    imgpipe(std::string("run p.yaml --backend cpu --jobs 2 & pid=$!; sleep ") + pause + "; kill -9 $pid; wait $pid");
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu").code, 0);
  for (int i = 0; i < 12; ++i) {
    const std::string name = "/" + std::to_string(i) + ".tif";
    EXPECT_EQ(get(at("out" + name)), get(at("clean" + name))) << name;
  }
}

TEST_F(Cli, EveryMessageNamesItsOwnFile) {
  save(at("good.tif"), random_image(make_desc(DType::u16, {60, 50}), 3));
  const std::string good = get(at("good.tif"));
  for (int i = 0; i < 30; ++i) {
    put(at("in/good_" + std::to_string(i) + ".tif"), good);
    put(at("in/bad_" + std::to_string(i) + ".tif"), good.substr(0, 100 + 20 * static_cast<std::size_t>(i)));
  }
  pipeline("input: in\noutput: out/new/nested/{stem}/{stem}.png\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --jobs 16 --report r.json");
  EXPECT_EQ(outcome.code, 1);
  const auto report = nlohmann::json::parse(get(at("r.json")));
  ASSERT_EQ(report["files"].size(), 60u);
  for (const auto& file : report["files"]) {
    const std::string input = file["input"];
    const bool bad = input.find("bad_") != std::string::npos;
    EXPECT_EQ(file["status"], bad ? "failed" : "done") << file.dump();
    if (bad) {
      EXPECT_EQ(file["error"].get<std::string>().rfind(input + ":", 0), 0u) << file.dump();
    } else {
      EXPECT_TRUE(fs::exists(at(file["outputs"][0]))) << file.dump();
    }
  }
}

TEST_F(Cli, TheReportCountsWhatWasClippedAndNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  save(at("in/a.npy"), image_of<float>(5, 1, {nan, -3, 7, 255, 300}));
  pipeline("input: in\noutput: out/{stem}.png\nsteps:\n  - convert: uint8\n  - stats\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto file = nlohmann::json::parse(get(at("r.json")))["files"][0];
  EXPECT_EQ(file["clipped"], 2);
  EXPECT_EQ(file["nan"], 1);
  EXPECT_EQ(samples(load(at("out/a.png"))), (std::vector<double>{0, 0, 7, 255, 255}));
  EXPECT_NE(outcome.err.find("clipped"), std::string::npos) << outcome.err;
}

TEST_F(Cli, WarnsOfAConstantImageWhereAThresholdIsSought) {
  save(at("in/flat.png"), image_of<std::uint16_t>(4, 4, std::vector<double>(16, 40000)));
  save(at("in/other.png"), random_image(make_desc(DType::u16, {8, 8}), 2));
  for (const char* step : {"otsu", "threshold: otsu"}) {
    pipeline(std::string("input: in\noutput: out/{stem}.png\nsteps:\n  - ") + step + "\n");
    const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("the mask is empty"), std::string::npos) << outcome.err;
    const auto files = nlohmann::json::parse(get(at("r.json")))["files"];
    EXPECT_EQ(files[0]["warnings"].size(), 1u) << files.dump();
    EXPECT_FALSE(files[1].contains("warnings")) << files.dump();
    EXPECT_EQ(samples(load(at("out/flat.png"))), std::vector<double>(16, 0));
  }
}

TEST_F(Cli, StopsAtTheFirstErrorWhenAskedTo) {
  put(at("in/a.png"), "broken");
  for (int i = 0; i < 40; ++i) save(at("in/b" + std::to_string(i) + ".png"), gray_);
  pipeline("input: in\noutput: out/{stem}.png\non_error: stop\nsteps: []\n");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --jobs 1 --report r.json").code, 1);
  const auto files = nlohmann::json::parse(get(at("r.json")))["files"];
  ASSERT_EQ(files.size(), 41u);
  EXPECT_EQ(files[0]["status"], "failed");
  EXPECT_EQ(files[40]["status"], "skipped");
}

TEST_F(Cli, AnOutputFolderThatIsAFileIsAnErrorOfEachFile) {
  save(at("in/a.png"), gray_);
  put(at("out"), "in the way");
  pipeline("input: in\noutput: out/{stem}.png\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("cannot be made a folder"), std::string::npos) << outcome.err;
  EXPECT_EQ(get(at("out")), "in the way");
}

TEST_F(Cli, EveryFormatComesOutOfARunAsItWentIn) {
  for (const char* suffix : {".png", ".tif", ".npy", ".bmp", ".ppm", ".pam", ".webp"})
    save(at(std::string("in/a") + suffix), random_image(make_desc(DType::u8, {23, 17}, 3), 4));
  pipeline("input: in\noutput: out/{name}\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* suffix : {".png", ".tif", ".npy", ".bmp", ".ppm", ".pam"})
    EXPECT_EQ(difference(load(at(std::string("in/a") + suffix)), load(at(std::string("out/a") + suffix))), "")
        << suffix;
  EXPECT_TRUE(fs::exists(at("out/a.webp")));
}

/// Peak memory of a run on `count` files, in KiB.
long peak_memory(const fs::path& folder, int count) {
  const pid_t child = fork();
  if (child == 0) {
    fs::current_path(folder);
    const std::string input = "in/[0-9]*.npy";
    const std::string few = "in/[0-4][0-9].npy";
    freopen("/dev/null", "w", stderr);
    execl(IMGPIPE_BINARY_DIR "/imgpipe", "imgpipe", "run", "p.yaml", "--backend", "cpu", "--jobs", "3", "-i",
          (count > 50 ? input : few).c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return usage.ru_maxrss;
}

TEST_F(Cli, MemoryStaysFlatOverALongBatch) {
  const Extent sizes[] = {{640, 480}, {900, 31}, {700, 700}, {17, 1300}, {400, 300}};
  for (int i = 0; i < 300; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "in/%02d.npy", i);
    save(at(name), random_image(make_desc(DType::u16, sizes[i % 5]), static_cast<unsigned>(i)));
  }
  pipeline("output: out/{stem}.npy\nsteps:\n  - median: 1\n  - gaussian: 1\n");
  const long after_50 = peak_memory(folder_, 50), after_300 = peak_memory(folder_, 300);
  EXPECT_LT(static_cast<double>(after_300), 1.15 * static_cast<double>(after_50));
}

TEST_F(Cli, CompareCallsAFileEqualToItself) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  save(at("flat.png"), image_of<std::uint8_t>(9, 9, std::vector<double>(81 * 4, 128), 4, true));
  save(at("nan.npy"), image_of<float>(9, 9, std::vector<double>(81, nan)));
  for (const char* name : {"flat.png", "nan.npy"}) {
    const Outcome outcome = imgpipe(std::string("compare ") + name + " " + name);
    EXPECT_EQ(outcome.code, 0) << name;
    EXPECT_NE(outcome.out.find("PSNR inf"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("SSIM 1"), std::string::npos) << outcome.out;
  }
}

TEST_F(Cli, CompareCountsAlphaPagesAndSpacing) {
  save(at("a.png"), image_of<std::uint8_t>(1, 1, {1, 2, 3, 200}, 4, true));
  save(at("b.png"), image_of<std::uint8_t>(1, 1, {1, 2, 3, 201}, 4, true));
  EXPECT_EQ(imgpipe("compare a.png b.png").code, 1);
  save(at("two.npy"), image_of<std::uint8_t>(2, 2, std::vector<double>(8, 1), 1, false, 2));
  save(at("three.npy"), image_of<std::uint8_t>(2, 2, std::vector<double>(12, 1), 1, false, 3));
  EXPECT_EQ(imgpipe("compare two.npy three.npy").code, 4);
  Image fine = random_image(make_desc(DType::u8, {4, 4, 3}, 1, false, true), 1);
  fine.desc().geometry = {{1, 1, 1}, {0, 0, 0}, "mm"};
  save(at("fine.tif"), fine);
  fine.desc().geometry.spacing[2] = 1.5;
  save(at("coarse.tif"), fine);
  EXPECT_EQ(imgpipe("compare fine.tif coarse.tif").code, 4);
  EXPECT_EQ(imgpipe("compare fine.tif coarse.tif --ignore-spacing").code, 0);
}

TEST_F(Cli, ListsFiltersForPeopleAndPrograms) {
  const auto all = nlohmann::json::parse(imgpipe("filters --json").out);
  ASSERT_TRUE(all.is_array());
  for (const auto& filter : all)
    for (const char* key : {"name", "summary", "kind", "dimensions", "parameters"})
      EXPECT_TRUE(filter.contains(key)) << filter["name"];
  EXPECT_EQ(imgpipe("filters gausian").code, 2);
  EXPECT_NE(imgpipe("filters gaussian").out.find("sigma"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(imgpipe("filters --schema").out).contains("properties"));
}

TEST_F(Cli, ExplainsThePlan) {
  pipeline("steps:\n  - median: 1\n  - gaussian: 2\n  - normalize\n  - rescale: uint8\n");
  const auto plan = nlohmann::json::parse(imgpipe("explain p.yaml --image 1024x1024:uint16 --json").out);
  EXPECT_EQ(plan["groups"].size(), 2u);
  EXPECT_GT(plan["groups"][0]["bytes"].get<double>(), 1024 * 1024 * 2);
  EXPECT_NE(imgpipe("explain p.yaml --image 1024x1024:uint16").out.find("normalize needs numbers"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test
