// What a run says: the report, the log, the terminal, standard output.
#include <pty.h>

#include <limits>

#include "tests/cli/program.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

class Report : public Cli {};

TEST_F(Report, TheReportSaysWhatBecameOfEachFile) {
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

TEST_F(Report, TheReportHoldsAnyName) {
  const std::vector<std::string> names = {"new\nline", "quote\"", "back\\slash", "tab\t", "latin\xe9", "esc\033[31m"};
  for (const std::string& name : names) save(at("in/" + name + ".png"), gray_);
  pipeline("input: in\noutput: out/{name}\nsteps: []\n");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --report r.json").code, 0);
  EXPECT_EQ(report()["files"].size(), names.size());
}

TEST_F(Report, AReportThatCannotBeWrittenIsToldBeforeWork) {
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

TEST_F(Report, LogsHaveNoCarriageReturnsAndStandardOutputIsClean) {
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

TEST_F(Report, ABarIsDrawnOnATerminalAlone) {
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

TEST_F(Report, ADryRunPrintsWhatWouldBeWrittenAndWritesNothing) {
  save(at("in/a.png"), gray_);
  save(at("in/b.png"), gray_);
  pipeline("input: in\noutput: out/{stem}.tif\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --dry-run");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "in/a.png -> out/a.tif\nin/b.png -> out/b.tif\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(Report, DataThatCannotBePrintedIsAnError) {
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
