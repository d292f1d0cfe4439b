// Long runs: interrupts, crashes, bad files among good ones, full disks, what the report and the log say.
#include <pty.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/cli/program.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

class Batch : public Cli {
 protected:
  /// Images that take a while to encode, so that a run can be caught while it writes.
  void save_slow_files(int count) const {
    for (int i = 1; i <= count; ++i)
      save(at("in/" + std::to_string(i) + ".npy"), random_image(make_desc(DType::u16, {1000, 700}), i));
    pipeline("input: in\noutput: out/{stem}.png\nsteps:\n  - gaussian: 1\n  - linear: {gain: 1.5}\n");
  }
  pid_t start_run(const std::string& out = "out/{stem}.png") const {
    return start({"run", "p.yaml", "--backend", "cpu", "--jobs", "2", "--report", "r.json", "-o", out});
  }
  bool is_writing(const std::string& folder = "out") const {
    if (!fs::exists(at(folder))) return false;
    std::size_t done = 0, begun = 0;
    for (const auto& entry : fs::directory_iterator(at(folder)))
      (entry.path().filename().string().rfind(".imgpipe-", 0) == 0 ? begun : done) += 1;
    return begun > 0 && done > 0;
  }
  void expect_whole_outputs() const {
    for (const auto& entry : fs::directory_iterator(at("out"))) {
      const std::string name = entry.path().filename().string();
      if (name[0] == '.') continue;
      EXPECT_NO_THROW(load(entry.path().string())) << name;
    }
  }
};

// ---- interrupts and crashes

class Interrupts : public Batch, public testing::WithParamInterface<std::pair<int, int>> {};

TEST_P(Interrupts, EndTheRunAndLeaveNothingHalf) {
  const auto [number, code] = GetParam();
  save_slow_files(16);
  const pid_t pid = start_run();
  ASSERT_TRUE(stop_when(pid, [&] { return is_writing(); }));
  kill(pid, number);
  kill(pid, SIGCONT);
  const Outcome outcome = finish(pid);
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(leftovers(), 0u);
  expect_whole_outputs();
  const Json report = this->report();
  EXPECT_EQ(report["files"].size(), 16u);
  EXPECT_GT(report["skipped"], 0);
  EXPECT_EQ(report["failed"], 0);
  EXPECT_EQ(report["done"], std::distance(fs::directory_iterator(at("out")), {}));
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(report["files"][i]["input"], "in/" + std::to_string(i + 1) + ".npy");
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupts,
                         testing::Values(std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)));

TEST_F(Batch, AnIgnoredHangUpStaysIgnored) {
  save_slow_files(4);
  const auto before = std::signal(SIGHUP, SIG_IGN);  // as nohup does
  const pid_t pid = start_run();
  std::signal(SIGHUP, before);
  ASSERT_TRUE(stop_when(pid, [&] { return is_writing(); }));
  kill(pid, SIGHUP);
  kill(pid, SIGCONT);
  EXPECT_EQ(finish(pid).code, 0);
  EXPECT_EQ(bytes_below("out").size(), 4u);
}

TEST_F(Batch, ASecondSignalEndsItAtOnceAndLeavesNothingHalf) {
  save_slow_files(8);
  const pid_t pid = start_run();
  ASSERT_TRUE(stop_when(pid, [&] { return is_writing(); }));
  kill(pid, SIGINT);
  kill(pid, SIGTERM);
  kill(pid, SIGCONT);
  const Outcome outcome = finish(pid);
  EXPECT_TRUE(outcome.code == 130 || outcome.code == 143) << outcome.code;
  EXPECT_EQ(leftovers(), 0u);
  expect_whole_outputs();
}

TEST_F(Batch, ARerunAfterAKillIsACleanRun) {
  save_slow_files(6);
  const pid_t pid = start_run();
  ASSERT_TRUE(stop_when(pid, [&] { return is_writing(); }));
  kill(pid, SIGKILL);
  EXPECT_EQ(finish(pid).code, -SIGKILL);
  EXPECT_GT(leftovers(), 0u) << "nothing can tidy up behind a kill but the next run";
  expect_whole_outputs();
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu").code, 0);
  EXPECT_EQ(leftovers(), 0u);
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu -o 'clean/{stem}.png'").code, 0);
  EXPECT_EQ(differing("out", "clean"), std::vector<std::string>{});
}

TEST_F(Batch, TwoRunsIntoOneFolderLeaveEachOtherAlone) {
  save_slow_files(4);
  const pid_t pid = start_run();
  ASSERT_TRUE(stop_when(pid, [&] { return is_writing(); }));
  const std::size_t begun = leftovers();
  save(at("small.png"), gray_);
  put(at("q.yaml"), "input: small.png\noutput: out/{stem}.tif\nsteps: []\n");
  EXPECT_EQ(imgpipe("run q.yaml --backend cpu").code, 0);
  EXPECT_EQ(leftovers(), begun) << "a living run keeps its temporary files";
  kill(pid, SIGCONT);
  EXPECT_EQ(finish(pid).code, 0);
  EXPECT_EQ(leftovers(), 0u);
}

// ---- bad files among good ones

TEST_F(Batch, EveryCorruptFileIsToldByItsOwnName) {
  const char* suffixes[] = {".tif", ".png", ".jpg", ".npy"};
  for (int i = 0; i < 30; ++i) {
    const std::string name = "in/" + std::to_string(i);
    save(at(name + "_good.tif"), random_image(make_desc(DType::u8, {30 + i, 20}), i));
    const std::string bad = at(name + "_bad" + suffixes[i % 4]);
    save(bad, random_image(make_desc(DType::u8, {30 + i, 20}), i));
    fs::resize_file(bad, fs::file_size(bad) / 2);
  }
  pipeline("input: in\noutput: out/{index}/deep/{stem}_{ext}.tif\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --jobs 16 --report r.json");
  EXPECT_EQ(outcome.code, 1);
  const Json many = report();
  EXPECT_EQ(many["done"], 30);
  EXPECT_EQ(many["failed"], 30);
  for (const Json& file : many["files"]) {
    const std::string input = file["input"];
    EXPECT_EQ(file["status"], has(input, "good") ? "done" : "failed") << input;
    if (has(input, "good"))
      EXPECT_TRUE(fs::exists(at(file["outputs"][0]))) << input;
    else
      EXPECT_EQ(file["error"].get<std::string>().rfind(input + ": ", 0), 0u) << file["error"];
  }
  const auto lines = lines_of(outcome.err);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](auto& l) { return l.rfind("error: in/", 0) == 0; }), 30);
  EXPECT_EQ(bytes_below("out").size(), 30u);
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu --jobs 1 --report r.json").code, 1);
  const Json one = report();
  for (std::size_t i = 0; i < 60; ++i)
    EXPECT_EQ(many["files"][i].value("error", ""), one["files"][i].value("error", ""));
}

TEST_F(Batch, TruncatedAndDamagedFilesGiveNoOutput) {
  const Image photo = random_image(make_desc(DType::u8, {64, 64}, 3), 1);
  for (const char* name : {"half.jpg", "whole.jpg", "noend.jpg", "half.png", "flipped.png", "half.tif", "half.npy"})
    save(at(std::string("in/") + name), photo);
  for (const char* name : {"half.jpg", "half.png", "half.tif", "half.npy"})
    fs::resize_file(at(std::string("in/") + name), fs::file_size(at(std::string("in/") + name)) / 2);
  fs::resize_file(at("in/noend.jpg"), fs::file_size(at("in/noend.jpg")) - 2);
  std::string png = get(at("in/flipped.png"));
  png[png.size() / 2] ^= 0x10;
  put(at("in/flipped.png"), png);
  pipeline("input: in\noutput: out/{name}.tif\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  EXPECT_EQ(outcome.code, 1);
  for (const char* name : {"half.jpg", "half.png", "flipped.png", "half.tif", "half.npy"}) {
    EXPECT_TRUE(has(outcome.err, std::string("error: in/") + name + ": ")) << outcome.err;
    EXPECT_FALSE(fs::exists(at(std::string("out/") + name + ".tif"))) << name;
  }
  EXPECT_TRUE(has(outcome.err, "in/noend.jpg: warning: ")) << "all pixels are there, so they are kept: " << outcome.err;
  EXPECT_EQ(get(at("out/noend.jpg.tif")), get(at("out/whole.jpg.tif")));
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(Batch, EmptyAndTinyFilesAreErrorsOfTheirOwn) {
  save(at("in/zz_good.png"), gray_);
  std::size_t bad = 0;
  for (const char* suffix : {".png", ".jpg", ".tif", ".npy"}) {
    save(at(std::string("whole") + suffix), gray_);
    const std::string whole = get(at(std::string("whole") + suffix));
    for (std::size_t size = 0; size <= 32; ++size, ++bad)
      put(at("in/" + std::to_string(size) + suffix), whole.substr(0, size));
  }
  pipeline("input: in\noutput: out/{name}.tif\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  EXPECT_EQ(outcome.code, 1);
  const Json report = this->report();
  EXPECT_EQ(report["failed"], bad);
  EXPECT_EQ(report["done"], 1);
  for (const Json& file : report["files"]) {
    const std::string input = file["input"], error = file.value("error", "");
    if (has(input, "good")) continue;
    EXPECT_EQ(error.rfind(input + ": ", 0), 0u) << error;
    EXPECT_EQ(has(error, "empty file"), has(input, "/0.")) << error;
  }
  EXPECT_EQ(bytes_below("out").size(), 1u);
}

TEST_F(Batch, ContentDecidesAndTextIsAnError) {
  save(at("in/a.jpg"), gray_);
  save(at("x.png"), gray_);
  fs::rename(at("x.png"), at("in/b.jpg"));
  save(at("in/c.JPG"), gray_);
  put(at("in/d.png"), "some text that is no image\n");
  save(at("in/E.TIF"), gray_);
  pipeline("input: in\noutput: out/{name}.npy\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(bytes_below("out").size(), 4u);
  EXPECT_EQ(difference(gray_, load(at("out/b.jpg.npy"))), "");
  EXPECT_TRUE(has(outcome.err, "error: in/d.png: "));
  EXPECT_TRUE(has(outcome.err, "in/b.jpg: warning: b.jpg is named as jpeg but holds png")) << outcome.err;
  for (const char* rightly : {"a.jpg is named", "c.JPG is named", "E.TIF is named"})
    EXPECT_FALSE(has(outcome.err, rightly)) << outcome.err;
}

TEST_F(Batch, AnImageThatThePipelineCannotTakeIsItsOwnErrorWhereverItStands) {
  const Image deep = random_image(make_desc(DType::u16, {8, 8}), 1);
  pipeline("input: in\noutput: out/{stem}.jpg\nsteps: []\n");
  for (const char* odd : {"in/a.png", "in/c.png"}) {
    for (const char* name : {"in/a.png", "in/b.png", "in/c.png"})
      save(at(name), odd == std::string(name) ? deep : gray_);
    const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "JPEG holds")) << outcome.err;
    EXPECT_EQ(report()["done"], 2);
    EXPECT_EQ(report()["failed"], 1);
    fs::remove_all(at("out"));
  }
  for (const char* name : {"in/a.png", "in/b.png", "in/c.png"}) save(at(name), deep);
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu").code, 2) << "where it can take none, nothing is done";
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(Batch, AStepThatCannotTakeAnImageIsToldWithTheImagesName) {
  ImageDesc spaced = make_desc(DType::u8, {8, 8});
  spaced.geometry.unit = "mm";
  save(at("in/a.png"), gray_);
  save(at("in/b.tif"), random_image(spaced, 1));
  pipeline("input: in\noutput: out/{stem}.tif\nsteps:\n  - gaussian: 1.5 mm\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome.err, "error: in/a.png: p.yaml:4:5: gaussian: a length in mm needs")) << outcome.err;
  EXPECT_TRUE(fs::exists(at("out/b.tif")));
  EXPECT_EQ(imgpipe("check p.yaml --inputs").code, 1);
  EXPECT_TRUE(has(get(at("stderr")), "error: in/a.png: p.yaml:4:5: ")) << get(at("stderr"));
}

TEST_F(Batch, StopsAtTheFirstErrorWhenAsked) {
  for (int i = 1; i <= 40; ++i) save(at("in/" + std::to_string(i) + ".png"), gray_);
  put(at("in/3.png"), "x");
  pipeline("input: in\noutput: out/{stem}.png\non_error: stop\nsteps: []\n");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --jobs 1 --report r.json").code, 1);
  EXPECT_EQ(report()["done"], 2);
  EXPECT_EQ(report()["failed"], 1);
  EXPECT_EQ(report()["skipped"], 37);
  EXPECT_EQ(report()["files"][39]["status"], "skipped");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --jobs 1 --set on_error=continue --report r.json").code, 1);
  EXPECT_EQ(report()["done"], 39);
}

TEST_F(Batch, ReadsOddPathsAndSaysThemInFull) {
  const std::string folder =
      "\xc3\xa4 \xc3\xb6/\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\x93 1's/\xf0\x9f\x8c\x8d /" + std::string(200, 'n');
  const std::string composed = "caf\xc3\xa9", decomposed = "cafe\xcc\x81";
  save(at(folder + "/" + composed + ".png"), gray_);
  save(at(folder + "/" + decomposed + ".png"), random_image(make_desc(DType::u8, {5, 5}), 1));
  put(at(folder + "/bad.png"), "x");
  pipeline("input: \"" + folder + "\"\noutput: \"out/{dir}/{name}\"\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome.err, "error: " + folder + "/bad.png: ")) << outcome.err;
  EXPECT_EQ(load(at("out/" + folder + "/" + composed + ".png")).desc().extent.width, 40);
  EXPECT_EQ(load(at("out/" + folder + "/" + decomposed + ".png")).desc().extent.width, 5);
  EXPECT_EQ(report()["files"].size(), 3u);
}

// ---- where nothing can be written

class Unwritable : public Batch, public testing::WithParamInterface<const char*> {};

TEST_P(Unwritable, DiskIsTheFilesErrorAndLeavesNothing) {
  save(at("in/large.npy"), random_image(make_desc(DType::u8, {300, 300}), 1));
  save(at("in/small.npy"), image_of<std::uint8_t>(2, 1, {1, 2}));
  pipeline(std::string("input: in\noutput: out/{stem}") + GetParam() + "\nsteps: []\n");
  // A limit on the size of files is what a full disk is to one file.
  const Outcome outcome = imgpipe("run p.yaml --backend cpu", "ulimit -f 16 &&");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_TRUE(has(outcome.err, std::string("error: out/large") + GetParam() + ": ")) << outcome.err;
  EXPECT_FALSE(fs::exists(at(std::string("out/large") + GetParam())));
  EXPECT_TRUE(fs::exists(at(std::string("out/small") + GetParam())));
  EXPECT_EQ(leftovers(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Formats, Unwritable, testing::Values(".png", ".jpg", ".tif", ".npy"));

TEST_F(Batch, FoldersThatCannotBeWrittenAreTheFilesErrors) {
  save(at("in/a.png"), gray_);
  put(at("file"), "x");
  fs::create_directories(at("taken/a.png"));
  pipeline("input: in\noutput: out/{stem}.png\nsteps: []\n");
  for (const char* output : {"file/{name}", "file/deep/{name}", "/proc/{name}", "/proc/new/{name}", "taken/{name}"}) {
    const Outcome outcome = imgpipe(std::string("run p.yaml --backend cpu -o '") + output + "'");
    EXPECT_EQ(outcome.code, 1) << output;
    EXPECT_TRUE(has(outcome.err, "error: ")) << outcome.err;
    EXPECT_EQ(leftovers(), 0u) << output;
  }
  EXPECT_EQ(get(at("file")), "x");
}

TEST_F(Batch, AReadOnlyFolderIsTheFilesError) {
  save(at("in/a.png"), gray_);
  fs::create_directories(at("locked"));
  pipeline("input: in\noutput: locked/{name}\nsteps: []\n");
  const uid_t nobody = 65534, user = geteuid() == 0 ? nobody : geteuid();  // root writes anywhere
  const auto run = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"run", "p.yaml", "--backend", "cpu"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    fs::permissions(at("locked"), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec);
    const Outcome outcome = finish(start(arguments, user));
    fs::permissions(at("locked"), fs::perms::owner_all);
    return outcome;
  };
  const Outcome outcome = run({});
  if (outcome.code == 99) GTEST_SKIP() << "1 test skipped: another user cannot run the program here";
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome.err, "error: locked/a.png: cannot be written: Permission denied")) << outcome.err;
  const Outcome report = run({"--report", "locked/r.json"});
  EXPECT_EQ(report.code, 2);
  EXPECT_TRUE(has(report.err, "--report: locked/r.json cannot be written")) << report.err;
}

TEST_F(Batch, AnOutputIsReplacedWholeAndALinkIsNotFollowed) {
  save(at("in/a.png"), gray_);
  save(at("kept.png"), image_of<std::uint8_t>(1, 1, {7}));
  fs::create_directories(at("out"));
  fs::create_symlink("../kept.png", at("out/a.png"));
  pipeline("input: in\noutput: out/{name}\nsteps: [invert]\n");
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu").code, 0);
  EXPECT_EQ(samples(load(at("kept.png"))), std::vector<double>{7});
  EXPECT_EQ(sample(load(at("out/a.png")), 0, 0), 255 - sample(gray_, 0, 0));
}

// ---- the report

TEST_F(Batch, TheReportSaysWhatBecameOfEachFile) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  save(at("in/1.npy"), image_of<float>(3, 2, {-5, nan, 300, 10, nan, 1e9}));
  save(at("in/2.png"), image_of<std::uint16_t>(2, 1, {1, 2, 3, 4, 5, 6}, 3));
  put(at("in/3.png"), "x");
  pipeline("input: in\noutput: out/{stem}.tif\nsteps:\n  - stats\n  - convert: uint8\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report new/r.json");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const Json report = Json::parse(get(at("new/r.json")));
  EXPECT_EQ(report["program"], "imgpipe");
  EXPECT_EQ(report["pipeline"], "p.yaml");
  EXPECT_EQ(report["backend"], "cpu");
  EXPECT_EQ(report["done"], 2);
  EXPECT_EQ(report["failed"], 1);
  EXPECT_EQ(report["skipped"], 0);
  EXPECT_GT(report["seconds"], 0.0);
  const Json &first = report["files"][0], &second = report["files"][1], &third = report["files"][2];
  EXPECT_EQ(first["status"], "done");
  EXPECT_EQ(first["outputs"], Json({"out/1.tif"}));
  EXPECT_EQ(first["read"], Json({{"width", 3}, {"height", 2}, {"depth", 1}, {"channels", 1}, {"dtype", "float32"}}));
  EXPECT_EQ(first["pages"], 1);
  EXPECT_EQ(first["written"][0]["dtype"], "uint8");
  EXPECT_EQ(first["clipped"], 3) << "-5, 300 and 1e9";
  EXPECT_EQ(first["nan"], 2);
  EXPECT_EQ(first["numbers"][0]["filter"], "stats");
  for (const char* stage : {"decode", "upload", "compute", "download", "encode"})
    EXPECT_TRUE(first["seconds"][stage].is_number()) << stage;
  EXPECT_GT(first["seconds"]["decode"], 0.0);
  EXPECT_GT(first["seconds"]["encode"], 0.0);
  EXPECT_EQ(second["read"]["channels"], 3);
  EXPECT_EQ(second["read"]["dtype"], "uint16");
  EXPECT_EQ(second["clipped"], 0);
  EXPECT_EQ(third["status"], "failed");
  EXPECT_TRUE(has(third["error"], "in/3.png: "));
  EXPECT_FALSE(third.contains("read"));
  EXPECT_TRUE(has(outcome.err, "in/1.npy: 3 samples clipped, 2 NaN written as 0")) << outcome.err;
}

TEST_F(Batch, TheReportHoldsAnyName) {
  const std::vector<std::string> names = {"new\nline", "quote\"", "back\\slash", "tab\t", "latin\xe9", "esc\033[31m"};
  for (const std::string& name : names) save(at("in/" + name + ".png"), gray_);
  pipeline("input: in\noutput: out/{name}\nsteps: []\n");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --report r.json").code, 0);
  EXPECT_EQ(report()["files"].size(), names.size());
}

TEST_F(Batch, AReportThatCannotBeWrittenIsToldBeforeWork) {
  save(at("in/a.png"), gray_);
  save(at("dark.png"), gray_);
  put(at("file"), "x");
  pipeline("input: in\noutput: out/{name}\nsteps: [{add: {with: dark.png}}]\n");
  for (const char* report : {"in", "file/r.json", "in/a.png", "out/../in/a.png", "out/a.png", "dark.png", "p.yaml"}) {
    const Outcome outcome = imgpipe(std::string("run p.yaml --backend cpu --report ") + report);
    EXPECT_EQ(outcome.code, 2) << report << "\n" << outcome.err;
    EXPECT_TRUE(has(outcome.err, "--report: ")) << outcome.err;
    EXPECT_FALSE(fs::exists(at("out"))) << report;
  }
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --report /dev/full").code, 1);
}

TEST_F(Batch, SeveralPipelinesAreCheckedBeforeAnyRuns) {
  save(at("in/a.png"), gray_);
  put(at("a.yaml"), "input: in\noutput: a/{name}\nsteps: [invert]\n");
  put(at("b.yaml"), "input: in\noutput: b/{name}\nsteps: [invrt]\n");
  EXPECT_EQ(imgpipe("run a.yaml b.yaml --backend cpu").code, 2);
  EXPECT_FALSE(fs::exists(at("a")));
  put(at("b.yaml"), "input: a\noutput: b/{name}\nsteps: [invert]\n");
  EXPECT_EQ(imgpipe("run a.yaml b.yaml --backend cpu -o 'c/{name}'").code, 2) << "one would replace the other";
  EXPECT_EQ(imgpipe("run a.yaml b.yaml --backend cpu --report r.json").code, 2);
  EXPECT_EQ(imgpipe("run a.yaml b.yaml --backend cpu").code, 0);
  EXPECT_EQ(difference(load(at("b/a.png")), gray_), "");
}

// ---- the same bytes

TEST_F(Batch, JobsAndRepetitionsNeverChangeAByte) {
  for (int i = 0; i < 10; ++i)
    save(at("in/" + std::to_string(i) + ".tif"), random_image(make_desc(DType::u16, {61 + i, 47}), 40 + i));
  save(at("in/large.npy"), random_image(make_desc(DType::f32, {1023, 1025}), 9));
  pipeline(
      "input: in\noutput: out/{stem}.tif\nsteps:\n  - gaussian: 2\n  - stats\n  - normalize: {low: 1%, high: 99%}\n");
  std::vector<Json> numbers;
  int run = 0;
  for (const char* jobs : {"1", "4", "16", "16"}) {
    const std::string out = "out" + std::to_string(run++);
    ASSERT_EQ(
        imgpipe("run p.yaml --backend cpu --report r.json --jobs " + std::string(jobs) + " -o '" + out + "/{stem}.tif'")
            .code,
        0);
    EXPECT_EQ(differing("out0", out), std::vector<std::string>{}) << jobs;
    const Json report = this->report();
    for (std::size_t i = 0; i < 11; ++i) {
      if (numbers.size() == i) numbers.push_back(report["files"][i]["numbers"]);
      EXPECT_EQ(report["files"][i]["numbers"], numbers[i]) << jobs;
    }
  }
  EXPECT_EQ(bytes_below("out0").size(), 11u);
}

// ---- memory

TEST_F(Batch, MemoryIsFlatOverALongRun) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "1 test skipped: sanitizers keep what was freed";
#endif
  const std::int64_t sides[] = {90, 150, 210, 270, 330};
  for (int i = 0; i < 300; ++i)
    save(at("in/" + std::to_string(i) + ".npy"), random_image(make_desc(DType::f32, {sides[i % 5], sides[i % 5]}), 1));
  pipeline("input: in\noutput: out/{stem}.npy\nsteps:\n  - gaussian: 2\n  - median: 1\n  - normalize\n");
  const pid_t pid = start({"run", "p.yaml", "--backend", "cpu", "--jobs", "4"});
  const auto peak_kib = [&] {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string word; status >> word;)
      if (word == "VmHWM:") return status >> word, std::stod(word);
    return 0.0;
  };
  const auto written = [&] { return fs::exists(at("out")) ? std::distance(fs::directory_iterator(at("out")), {}) : 0; };
  ASSERT_TRUE(stop_when(pid, [&] { return written() >= 50; }));
  const double early = peak_kib();
  kill(pid, SIGCONT);
  double late = early;
  while (stop_when(pid, [&] { return true; })) {
    late = peak_kib();
    kill(pid, SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(finish(pid).code, 0);
  EXPECT_EQ(written(), 300);
  EXPECT_LT(late, 1.1 * early);
}

// ---- what is said, and where

TEST_F(Batch, LogsHaveNoCarriageReturnsAndStandardOutputIsClean) {
  for (int i = 0; i < 20; ++i) save(at("in/" + std::to_string(i) + ".png"), gray_);
  put(at("in/bad.png"), "x");
  fs::create_symlink("nowhere", at("in/\033[31mred\n.png"));
  pipeline("input: in\noutput: out/{stem}.png\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find('\033'), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines_of(outcome.err).size(), 3u) << "a warning, an error, the end: " << outcome.err;
  for (const char* wrong : {"run p.yaml -i \"$(printf 'a\\033[31m')\"", "run \"$(printf 'a\\033\\nb').yaml\"",
                            "compare \"$(printf 'a\\033')\" b", "\"$(printf 'x\\033')\""}) {
    const Outcome fault = imgpipe(wrong);
    EXPECT_EQ(fault.code, 2) << wrong;
    EXPECT_EQ(fault.err.find('\033'), std::string::npos) << fault.err;
    EXPECT_EQ(lines_of(fault.err).size(), 1u) << fault.err;
  }
}

/// What a run writes to a terminal.
std::string on_a_terminal(const std::string& folder, const char* variable) {
  struct termios plain {};
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, &plain, nullptr);
  if (pid == 0) {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    if (variable) putenv(const_cast<char*>(variable));
    if (chdir(folder.c_str()) != 0) _exit(99);
    execl(IMGPIPE_BINARY_DIR "/imgpipe", "imgpipe", "run", "p.yaml", "--backend", "cpu", nullptr);
    _exit(99);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(terminal, buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  close(terminal);
  waitpid(pid, nullptr, 0);
  return text;
}

TEST_F(Batch, ABarIsDrawnOnATerminalAlone) {
  for (int i = 0; i < 5; ++i) save(at("in/" + std::to_string(i) + ".png"), gray_);
  pipeline("input: in\noutput: out/{stem}.png\nsteps: [invert]\n");
  const std::string bar = on_a_terminal(at("."), nullptr);
  EXPECT_TRUE(has(bar, "] 5/5") && has(bar, "\r")) << bar;
  for (const char* variable : {"NO_COLOR=1", "TERM=dumb"}) {
    const std::string plain = on_a_terminal(at("."), variable);
    EXPECT_FALSE(has(plain, "\r") || has(plain, "\033")) << variable << plain;
    EXPECT_TRUE(has(plain, "5 of 5 files done")) << plain;
  }
}

TEST_F(Batch, ADryRunPrintsWhatWouldBeWrittenAndWritesNothing) {
  save(at("in/a.png"), gray_);
  save(at("in/b.png"), gray_);
  pipeline("input: in\noutput: out/{stem}.tif\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --dry-run");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "in/a.png -> out/a.tif\nin/b.png -> out/b.tif\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(Batch, DataThatCannotBePrintedIsAnError) {
  save(at("a.png"), gray_);
  for (const char* command : {"filters", "filters --json", "info a.png", "info --json a.png", "compare a.png a.png",
                              "--version", "--help", "run --help"}) {
    const std::string line =
        "cd '" + at(".") + "' && '" IMGPIPE_BINARY_DIR "/imgpipe' " + command + " >/dev/full 2>'" + at("stderr") + "'";
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << command;
    EXPECT_TRUE(has(get(at("stderr")), "standard output")) << command;
  }
}

}  // namespace
}  // namespace imgpipe::test
