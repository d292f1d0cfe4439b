// Interrupts, crashes, and two runs at once: nothing is left half.
#include "tests/cli/program.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

class Interrupt : public Cli {
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

class Signals : public Interrupt, public testing::WithParamInterface<std::pair<int, int>> {};

TEST_P(Signals, EndTheRunAndLeaveNothingHalf) {
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

INSTANTIATE_TEST_SUITE_P(All, Signals,
                         testing::Values(std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)));

TEST_F(Interrupt, AnIgnoredHangUpStaysIgnored) {
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

TEST_F(Interrupt, ASecondSignalEndsItAtOnceAndLeavesNothingHalf) {
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

TEST_F(Interrupt, ARerunAfterAKillIsACleanRun) {
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

TEST_F(Interrupt, TwoRunsIntoOneFolderLeaveEachOtherAlone) {
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

}  // namespace
}  // namespace imgpipe::test
