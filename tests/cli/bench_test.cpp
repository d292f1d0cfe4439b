// `imgpipe bench` as a person uses it. What it measures is not looked at, only that it is there.
#include <sstream>

#include "tests/cli/program.h"
#include "tests/support/xml.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

const std::string on_cpu = " --backend cpu --repeats 1 --image 64x48:uint16";

std::vector<std::string> workload_names(const Json& list) {
  std::vector<std::string> names;
  for (const auto& workload : list) names.push_back(workload["name"]);
  return names;
}

TEST_F(Cli, BenchNamesEveryWorkloadWhereOneIsUnknown) {
  const auto names = workload_names(Json::parse(imgpipe("bench --list --json").out));
  EXPECT_GE(names.size(), 18u);
  const Outcome unknown = imgpipe("bench chain2d_u61");
  const Outcome help = imgpipe("bench --help");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(has(unknown.err, "did you mean chain2d_u16")) << unknown.err;
  for (const std::string& name : names) {
    EXPECT_TRUE(has(unknown.err, name)) << name;
    EXPECT_TRUE(has(help.out, name)) << name;
  }
}

TEST_F(Cli, BenchUsageErrorsExitTwo) {
  pipeline("steps: [invert]\n");
  for (const char* arguments : {"--sizes --blocks", "--plot a.svg", "--json --csv", "--backend gpu", "--repeats 0",
                                "--image 3x3", "--blocks --backend cpu", "missing.yaml", "p.yaml", "--sizes 3"}) {
    const Outcome outcome = imgpipe(std::string("bench ") + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
  pipeline("steps: [invrt]\n");
  EXPECT_TRUE(has(imgpipe("bench p.yaml --image 4x4:uint8").err, "p.yaml:1:9"));
}

TEST_F(Cli, BenchPrintsOneDocumentOfJson) {
  const Outcome outcome = imgpipe("bench median3_u16 chain2d_u16 --json" + on_cpu);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json document = Json::parse(outcome.out);
  const int threads = document["machine"]["cpu"]["threads"];
  ASSERT_EQ(document["rows"].size(), threads > 1 ? 4u : 2u) << outcome.out;
  for (const Json& row : document["rows"]) {
    EXPECT_EQ(row["backend"], "cpu");
    EXPECT_EQ(row["place"], "host");
    EXPECT_EQ(row["extent"], (Json{64, 48, 1}));
    EXPECT_EQ(row["dtype"], "uint16");
    for (const char* key : {"ms", "ms_quartile1", "ms_quartile3", "floor_ms", "of_floor", "bytes_moved", "predicted_ms",
                            "groups", "runs", "threads"})
      EXPECT_GT(row[key].get<double>(), 0) << key;
  }
  EXPECT_EQ(document["rows"][0]["workload"], "median3_u16");
  EXPECT_EQ(document["rows"][0]["bytes_moved"], 2 * 64 * 48 * 2) << "read once, written once";
  EXPECT_EQ(document["rows"].back()["workload"], "chain2d_u16");
}

TEST_F(Cli, BenchPrintsCsvAndATable) {
  const Outcome csv = imgpipe("bench open15_u8 --csv" + on_cpu);
  ASSERT_EQ(csv.code, 0) << csv.err;
  EXPECT_EQ(lines_of(csv.out)[0].rfind("workload,backend,", 0), 0u);
  EXPECT_GE(lines_of(csv.out).size(), 2u);
  const Outcome table = imgpipe("bench open15_u8" + on_cpu);
  ASSERT_EQ(table.code, 0) << table.err;
  for (const char* word : {"median ms", "quartiles ms", "floor ms", "of floor", "moved MB", "predicted ms"})
    EXPECT_TRUE(has(lines_of(table.out)[0], word)) << word;
  EXPECT_TRUE(has(table.out, "1 thread"));
}

TEST_F(Cli, BenchTimesAPersonsOwnFileOnItsOwnImage) {
  save(at("in/a.png"), random_image(make_desc(DType::u8, {31, 17}, 3), 1));
  save(at("dark.png"), random_image(make_desc(DType::u8, {31, 17}, 3), 2));
  pipeline("input: in/*.png\noutput: out/{name}\nsteps:\n  - subtract: {with: dark.png}\n  - gaussian: 1\n");
  const Outcome outcome = imgpipe("bench p.yaml --backend cpu --repeats 1 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json row = Json::parse(outcome.out)["rows"][0];
  EXPECT_EQ(row["workload"], "p.yaml");
  EXPECT_EQ(row["image"], "31x17 uint8 RGB");
  EXPECT_FALSE(fs::exists(at("out"))) << "nothing is written";
  const Outcome sizes = imgpipe("bench p.yaml --sizes --backend cpu --repeats 1");
  EXPECT_EQ(sizes.code, 2) << "the second image has one size";
  EXPECT_TRUE(has(sizes.err, "with:")) << sizes.err;
}

TEST_F(Cli, BenchOverSizesWritesAPlot) {
  pipeline("steps: [{crop: {x: 0, y: 0, width: 100, height: 100}}, invert]\n");
  const Outcome outcome =
      imgpipe("bench p.yaml --sizes --backend cpu --repeats 1 --image 200x200:uint8 --json --plot 'plots/a b.svg'");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::vector<std::int64_t> sides;
  const Json rows = Json::parse(outcome.out)["rows"];
  for (const Json& row : rows) sides.push_back(row["extent"][0]);
  EXPECT_EQ(sides, (std::vector<std::int64_t>{128, 256, 512, 1024, 2048, 4096, 8192}));
  EXPECT_TRUE(has(outcome.err, "left out: 64 pixels a side")) << "the box is larger: " << outcome.err;
  const std::string picture = get(at("plots/a b.svg"));
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_TRUE(has(picture, "time of one image, ms") && has(picture, "p.yaml")) << picture;
  EXPECT_EQ(leftovers(), 0u);
  put(at("file"), "x");
  const Outcome nowhere =
      imgpipe("bench p.yaml --sizes --backend cpu --repeats 1 --image 200x200:uint8 --plot file/a.svg");
  EXPECT_EQ(nowhere.code, 2) << nowhere.err;
  EXPECT_EQ(nowhere.out, "") << "said before anything is timed";
}

TEST_F(Cli, BenchOnTheGpuHasEveryPlaceAndBlockSize) {
  if (imgpipe("devices").code != 0) GTEST_SKIP() << "1 test skipped: there is no GPU";
  const std::string small = " --backend cuda --repeats 2 --image 256x200:uint16 --json";
  const Json places = Json::parse(imgpipe("bench chain2d_u16" + small).out)["rows"];
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0]["place"], "device");
  EXPECT_EQ(places[1]["place"], "host to host");
  for (const Json& row : places) EXPECT_GT(row["ms"].get<double>(), 0);
  const Json blocks = Json::parse(imgpipe("bench chain2d_u16 --blocks" + small).out)["rows"];
  ASSERT_EQ(blocks.size(), 6u);
  int threads = 32;
  for (const Json& row : blocks) {
    EXPECT_EQ(row["block_threads"], threads);
    threads *= 2;
    ASSERT_FALSE(row["kernels"].empty());
    for (const Json& kernel : row["kernels"]) {
      EXPECT_GT(kernel["occupancy"].get<double>(), 0);
      EXPECT_LE(kernel["occupancy"].get<double>(), 1);
      EXPECT_GT(kernel["registers"].get<int>(), 0);
    }
  }
}

TEST_F(Cli, BenchOfBlocksNeedsAGpu) {
  if (imgpipe("devices").code == 0) GTEST_SKIP() << "1 test skipped: there is a GPU";
  for (const char* arguments : {"bench --blocks median3_u16", "bench median3_u16 --backend cuda"}) {
    const Outcome outcome = imgpipe(arguments);
    EXPECT_EQ(outcome.code, 3) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
}

}  // namespace
}  // namespace imgpipe::test
