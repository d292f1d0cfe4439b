// What `imgpipe bench` makes of timings: spread, floors, crossovers, tables, plots. No time is asserted.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "pipeline/bench/plot.h"
#include "pipeline/bench/rows.h"
#include "pipeline/bench/workloads.h"
#include "pipeline/config/config.h"
#include "pipeline/plan/chain.h"
#include "tests/support/chain.h"
#include "tests/support/xml.h"

namespace imgpipe::test {
namespace {

using namespace bench;

Row row(const std::string& chain, Place place, std::int64_t side, double milliseconds) {
  Row r;
  r.chain = chain;
  r.place = place;
  r.image = make_desc(DType::u16, {side, side});
  r.time = {milliseconds * 1e-3, milliseconds * 0.9e-3, milliseconds * 1.2e-3, 9};
  r.floor = milliseconds * 0.5e-3;
  r.groups = 2;
  place == Place::host ? r.cpu_threads = 2 : r.block_threads = 256;
  return r;
}

Hardware with_gpu() {
  Hardware hardware;
  hardware.cpu_threads = 2;
  Gpu gpu;
  gpu.info.name = "Some <GPU> & more";
  gpu.info.threads_per_multiprocessor = 2048;
  hardware.gpu = gpu;
  return hardware;
}

/// The CPU takes 1, 2, 4, … ms; the GPU what is given.
std::vector<Row> sweep(const std::string& chain, const std::vector<double>& device, const std::vector<double>& hosts) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < device.size(); ++i) {
    const std::int64_t side = 64 << i;
    rows.push_back(row(chain, Place::device, side, device[i]));
    rows.push_back(row(chain, Place::host_to_host, side, hosts[i]));
    rows.push_back(row(chain, Place::host, side, 1 << i));
  }
  return rows;
}

TEST(Spread, HasMedianAndQuartilesBetweenNeighbours) {
  const Spread odd = spread_of({5, 1, 3, 2, 4});
  EXPECT_EQ(odd.quartile1, 2);
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.quartile3, 4);
  EXPECT_EQ(odd.runs, 5);
  const Spread even = spread_of({4, 1, 3, 2});
  EXPECT_EQ(even.quartile1, 1.75);
  EXPECT_EQ(even.median, 2.5);
  EXPECT_EQ(even.quartile3, 3.25);
  EXPECT_EQ(spread_of({7}).quartile3, 7);
}

TEST(Crossovers, AreWhereTheGpuIsFasterFromThereOn) {
  const std::vector<Row> rows = sweep("a", {0.5, 3, 3, 5, 5}, {9, 9, 9, 9, 9});
  const auto found = crossovers("a", rows);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].place, Place::host_to_host);
  EXPECT_EQ(words(found[0]), "a: from 1024 x 1024 on the GPU pays, host to host");
  EXPECT_EQ(words(found[1]), "a: from 256 x 256 on the GPU pays, with the image in device memory")
      << "that it was faster at 64 does not count: at 128 it is not";
}

TEST(Crossovers, AreNoneWhereTheGpuStaysBehind) {
  const auto found = crossovers("a", sweep("a", {1, 2, 4}, {0.1, 0.1, 5}));
  EXPECT_EQ(words(found[0]), "a: up to 256 x 256 the GPU does not pay, host to host");
  EXPECT_FALSE(found[1].side) << "as fast is not faster";
  EXPECT_TRUE(crossovers("a", {row("a", Place::host, 64, 1)}).empty()) << "there is no GPU";
  EXPECT_TRUE(crossovers("b", sweep("a", {1}, {1})).empty());
}

TEST(Rows, NeedWhatMustBeReadAndWrittenOnce) {
  const Config config = parse_config("steps: [{median: 1}, normalize, {rescale: uint8}]", "p", {});
  const Trial trial = make_trial(build_graph(config, make_desc(DType::u16, {30, 20}), {}), Machine::gpu());
  EXPECT_EQ(trial.bytes_in(), 2 * 600);
  EXPECT_EQ(trial.bytes_out(), 600);
  ASSERT_EQ(trial.images.size(), 1u);
  EXPECT_EQ(trial.images[0].desc(), make_desc(DType::u16, {30, 20}));
}

TEST(Rows, SayHowFullAMultiprocessorIs) {
  const cuda::Residency kernel{256, 3, 80, 1000, 0};
  EXPECT_EQ(occupancy(kernel, with_gpu().gpu->info), 0.375);
  Row r = row("a", Place::device, 64, 1);
  r.kernels = {kernel, {256, 8, 32, 0, 16}};
  const auto document = nlohmann::json::parse(json({r}, {}, with_gpu()));
  EXPECT_EQ(document["rows"][0]["kernels"][0]["occupancy"], 0.375);
  EXPECT_EQ(document["rows"][0]["kernels"][1]["spilled_bytes"], 16);
  EXPECT_NE(table_line(r, with_gpu()).find("38 % 80 regs, 100 % 32 regs 16 B spilled"), std::string::npos)
      << table_line(r, with_gpu());
}

TEST(Rows, AreOneDocumentOfJson) {
  const std::vector<Row> rows = sweep("a \xff", {2, 1}, {9, 9});
  const auto document = nlohmann::json::parse(json(rows, crossovers(rows[0].chain, rows), with_gpu()));
  EXPECT_EQ(document["machine"]["gpu"]["name"], "Some <GPU> & more");
  ASSERT_EQ(document["rows"].size(), 6u);
  EXPECT_EQ(document["rows"][0]["place"], "device");
  EXPECT_EQ(document["rows"][1]["place"], "host to host");
  EXPECT_EQ(document["rows"][2]["threads"], 2);
  EXPECT_DOUBLE_EQ(document["rows"][3]["ms"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(document["rows"][3]["of_floor"].get<double>(), 0.5);
  EXPECT_EQ(document["crossovers"][0]["side"], nullptr);
  EXPECT_EQ(document["crossovers"][1]["side"], 128);
}

TEST(Rows, AreCsvWithOneLineEach) {
  const std::string text = csv(sweep("a,\"b\"", {1}, {2}), with_gpu());
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  const auto columns = std::count(line.begin(), line.end(), ',');
  for (int k = 0; k < 3; ++k) {
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(line.substr(0, 9), "\"a,\"\"b\"\"\"");
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns + 1) << line;
  }
  EXPECT_FALSE(std::getline(in, line));
}

TEST(Plots, AreWellFormedWhateverTheNames) {
  for (const std::string name :
       {"a<b>&\"c\"'", "\x01\x7f\n", "\xff\xc0\x80\xed\xa0\x80\xef\xbf\xbf", "\xc3\xa4\xe2\x80\x93\xf0\x9f\x8c\x8d"}) {
    std::vector<Row> rows = sweep(name, {2, 1, 0.5}, {9, 9, 1});
    const std::string picture = size_plot(rows, crossovers(name, rows), with_gpu());
    EXPECT_EQ(xml_fault(picture), "") << picture;
  }
  EXPECT_EQ(xml_fault(svg({"t", "s", "x", "y", {64}, {{"empty", {}, {}}}})), "");
}

TEST(Plots, ShowAxesWithUnitsLegendCurvesAndCrossovers) {
  const std::vector<Row> rows = sweep("chain", {2, 1, 0.5}, {9, 9, 1});
  const std::string picture = size_plot(rows, crossovers("chain", rows), with_gpu());
  for (const char* part : {"side of the image, pixels", "time of one image, ms", "CPU, 2 threads", "GPU, host to host",
                           "GPU, image in device memory", "pays from 128 x 128 in device memory",
                           "pays from 256 x 256 host to host", ">chain<", "Some &lt;GPU&gt; &amp; more"})
    EXPECT_NE(picture.find(part), std::string::npos) << part << "\n" << picture;
  EXPECT_EQ(picture.find("href"), std::string::npos) << "it stands alone";
}

/// Twice the time is the same distance up, twice the size the same distance across, wherever it is.
TEST(Plots, HaveLogarithmicAxes) {
  Curve curve{"c", "#000", false, {{64, 1}, {128, 2}, {256, 4}}};
  const std::string picture = svg({"t", "s", "x", "y", {64, 128, 256}, {{"p", {curve}, {}}}});
  const std::size_t at = picture.find("points=\"") + 8;
  double x[3], y[3];
  ASSERT_EQ(std::sscanf(picture.c_str() + at, "%lf,%lf %lf,%lf %lf,%lf", x, y, x + 1, y + 1, x + 2, y + 2), 6);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.2);
  EXPECT_NEAR(y[0] - y[1], y[1] - y[2], 0.2);
  EXPECT_LT(x[0], x[1]);
  EXPECT_GT(y[0], y[1]) << "upwards is more";
}

TEST(Workloads, CanBePlannedForBothMachines) {
  EXPECT_GE(workloads().size(), 18u);
  for (const Workload& w : workloads()) {
    const Config config = parse_config(std::string("steps:\n") + w.steps, w.name, {});
    EXPECT_EQ(w.image.dtype, w.cpu_image.dtype) << w.name;
    EXPECT_GT(make_plan(build_graph(config, w.image, {}), Machine::gpu()).seconds(), 0) << w.name;
    EXPECT_GT(make_plan(build_graph(config, w.cpu_image, {}), Machine::cpu()).seconds(), 0) << w.name;
    EXPECT_EQ(find_workload(w.name), &w);
  }
  EXPECT_EQ(find_workload("none"), nullptr);
}

TEST(Workloads, KeepTheDtypeThatTheirNamePromises) {
  for (const Workload& w : workloads()) {
    const std::string suffix = std::string(w.name).substr(std::string(w.name).rfind('_'));
    EXPECT_EQ(suffix, w.image.dtype == DType::u8 ? "_u8" : w.image.dtype == DType::u16 ? "_u16" : "_f32") << w.name;
  }
}

TEST(RandomPixels, CoverTheRangeAndComeAgain) {
  const Image bytes = random_pixels(make_desc(DType::u8, {64, 64}), 1);
  const Image again = random_pixels(make_desc(DType::u8, {64, 64}), 1);
  const Image other = random_pixels(make_desc(DType::u8, {64, 64}), 2);
  EXPECT_EQ(difference(bytes, again), "");
  EXPECT_NE(difference(bytes, other), "");
  const std::vector<double> values = samples(bytes);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), 0);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 255);
  double sum = 0;
  for (double v : samples(random_pixels(make_desc(DType::f32, {64, 64}), 1))) {
    EXPECT_TRUE(v >= 0 && v < 1);
    sum += v;
  }
  EXPECT_NEAR(sum / 4096, 0.5, 0.03);
}

}  // namespace
}  // namespace imgpipe::test
