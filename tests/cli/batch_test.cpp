// Batches: all checked before any runs, the same bytes however many jobs, flat memory.
#include "tests/cli/program.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

class Batch : public Cli {};

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

}  // namespace
}  // namespace imgpipe::test
