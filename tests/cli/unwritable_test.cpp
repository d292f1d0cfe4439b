// Disks, folders and files that cannot be written.
#include "tests/cli/program.h"

namespace imgpipe::test {
namespace {

class Unwritable : public Cli {};

class FullDisk : public Unwritable, public testing::WithParamInterface<const char*> {};

TEST_P(FullDisk, IsTheFilesErrorAndLeavesNothing) {
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

INSTANTIATE_TEST_SUITE_P(Formats, FullDisk, testing::Values(".png", ".jpg", ".tif", ".npy"));

TEST_F(Unwritable, FoldersThatCannotBeWrittenAreTheFilesErrors) {
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

TEST_F(Unwritable, AReadOnlyFolderIsTheFilesError) {
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

TEST_F(Unwritable, AnOutputIsReplacedWholeAndALinkIsNotFollowed) {
  save(at("in/a.png"), gray_);
  save(at("kept.png"), image_of<std::uint8_t>(1, 1, {7}));
  fs::create_directories(at("out"));
  fs::create_symlink("../kept.png", at("out/a.png"));
  pipeline("input: in\noutput: out/{name}\nsteps: [invert]\n");
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu").code, 0);
  EXPECT_EQ(samples(load(at("kept.png"))), std::vector<double>{7});
  EXPECT_EQ(sample(load(at("out/a.png")), 0, 0), 255 - sample(gray_, 0, 0));
}

}  // namespace
}  // namespace imgpipe::test
