// The program as a person uses it: exit codes, messages, batches on odd folders.
#include "tests/cli/program.h"

namespace imgpipe::test {
namespace {

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

TEST_F(Cli, NamesLikeOptionsStandBehindTwoDashes) {
  save(at("-e.png"), gray_);
  for (const char* line :
       {"info -- -e.png", "info ./-e.png", "compare -- -e.png -e.png", "compare -t 1 -- -e.png -e.png"})
    EXPECT_EQ(imgpipe(line).code, 0) << line;
  EXPECT_EQ(imgpipe("info -e.png").code, 2);
  pipeline("input: ./-e.png\noutput: -o.png\nsteps: []\n");
  EXPECT_EQ(imgpipe("run --backend cpu -- p.yaml").code, 0);
  EXPECT_TRUE(fs::exists(at("-o.png")));
}

TEST_F(Cli, CheckFindsFaultsByHeadersAlone) {
  save(at("in/a.png"), gray_);
  save(at("in/b.npy"), random_image(make_desc(DType::f32, {4, 4}), 1));
  put(at("in/c.png"), "x");
  pipeline("input: in\noutput: out/{stem}.png\nsteps: [invert]\n");
  const Outcome plain = imgpipe("check p.yaml");
  EXPECT_EQ(plain.code, 0);
  EXPECT_EQ(plain.out, "p.yaml: 1 step, no fault\n");
  const Outcome headers = imgpipe("check p.yaml --inputs");
  EXPECT_EQ(headers.code, 1);
  EXPECT_EQ(headers.out, "p.yaml: 1 step, 3 inputs, 2 cannot be processed\n");
  EXPECT_TRUE(has(headers.err, "error: out/b.png: PNG holds")) << headers.err;
  EXPECT_TRUE(has(headers.err, "error: in/c.png: ")) << headers.err;
  EXPECT_EQ(imgpipe("check p.yaml --input in/a.png").code, 0);
  EXPECT_FALSE(fs::exists(at("out")));
  for (const char* fault :
       {"steps: [invrt]", "steps: []", "input: missing.png\nsteps: []", "input: in\nsteps: [{add: {with: no.tif}}]",
        "input: in\noutput: in/{name}\nsteps: []", "input: in\noutput: o.png\nsteps: []"}) {
    pipeline(fault);
    EXPECT_EQ(imgpipe("check p.yaml --inputs").code, 2) << fault;
  }
}

TEST_F(Cli, ASecondImageIsAFaultOfThePipelineWhenItCannotBeUsed) {
  save(at("in/a.png"), gray_);
  put(at("bad.png"), "x");
  save(at("small.png"), random_image(make_desc(DType::u8, {3, 3}), 1));
  for (const char* other : {"missing.png", "bad.png", "small.png"}) {
    pipeline(std::string("input: in\noutput: out/{name}\nsteps: [{add: {with: ") + other + "}}]\n");
    const Outcome outcome = imgpipe("run p.yaml --backend cpu");
    EXPECT_EQ(outcome.code, 2) << other << outcome.err;
    EXPECT_FALSE(fs::exists(at("out"))) << other;
  }
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
