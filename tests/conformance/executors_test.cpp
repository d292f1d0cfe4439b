// simple = cpu = cuda, bit for bit, for every filter of the table; fused = unfused = small tiles. The cuda executor
// runs here on the host twin of a device: the generated kernels, compiled for the host.
#include <gtest/gtest.h>

#include <random>

#include "pipeline/exec/cuda/executor.h"
#include "tests/conformance/cases.h"
#include "tests/support/parity.h"
#include "tests/support/twin_device.h"

namespace imgpipe::test {
namespace {

struct ImageCase {
  ImageDesc desc;
  std::string name;
};

ImageCase image_case(DType dtype, Extent extent, int channels, bool volume) {
  const ImageDesc desc = make_desc(dtype, extent, channels, channels == 2 || channels == 4, volume);
  return {desc, describe(desc)};
}

const std::vector<Extent> shapes_2d = {{1, 1}, {9, 1}, {1, 7}, {2, 2}, {5, 7}, {67, 37}, {129, 5}, {33, 70}};
const std::vector<Extent> shapes_3d = {{1, 1, 1}, {5, 4, 1}, {6, 5, 2}, {19, 13, 11}};

/// Every dtype at one channel, and 3 and 4 channels of the common ones.
std::vector<ImageCase> images(const std::vector<Extent>& shapes, bool volume) {
  std::vector<ImageCase> cases;
  for (DType dtype : all_dtypes)
    for (const Extent& extent : shapes) cases.push_back(image_case(dtype, extent, 1, volume));
  for (DType dtype : {DType::u8, DType::u16, DType::f32})
    for (int channels : {3, 4})
      for (const Extent& extent : {shapes[0], shapes[3], shapes.back()})
        cases.push_back(image_case(dtype, extent, channels, volume));
  return cases;
}

std::string with_step(const FilterCase& c) {
  std::string step = c.step;
  if (const auto at = step.find("other"); at != std::string::npos && step.find("other0") == std::string::npos)
    ADD_FAILURE() << "examples name the second image other0.tif: " << step;
  return step;
}

class EveryFilter : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryFilter, GivesTheSameBytesOnEveryExecutor) {
  const FilterCase c = filter_cases()[GetParam()];
  for (bool volume : {false, true}) {
    std::vector<ParityRun> runs;
    for (const ImageCase& image : images(volume ? shapes_3d : shapes_2d, volume))
      runs.push_back({with_step(c), image.desc});
    precompile_all(runs, volume);
    int taken = 0;
    for (const auto& [step, desc] : runs) {
      taken += expect_equal(step, desc);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(volume || taken > 0) << c.step << " took no image at all";
  }
}

std::string case_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name = std::to_string(info.param) + "_" + filter_cases()[info.param].filter->name;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Filters, EveryFilter, testing::Range<std::size_t>(0, filter_cases().size()), case_name);

class EveryBorder : public testing::TestWithParam<const char*> {};

TEST_P(EveryBorder, GivesTheSameBytesOnEveryExecutor) {
  const std::string border = GetParam();
  for (const FilterCase& c : filter_cases()) {
    if (!has_border(*c.filter)) continue;
    const std::string step = c.step + "\n  border: " + border + (border == "constant" ? "\n  constant: 3" : "");
    std::string text = step;
    if (c.step.find(':') == std::string::npos) text = c.step + ":" + step.substr(c.step.size());
    std::vector<ParityRun> runs;
    for (const Extent& extent : {Extent{1, 1}, Extent{3, 2}, Extent{40, 19}})
      for (DType dtype : {DType::u16, DType::f64}) runs.push_back({text, make_desc(dtype, extent)});
    precompile_all(runs, false);
    for (const auto& [steps, desc] : runs) {
      expect_equal(steps, desc);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Borders, EveryBorder,
                         testing::Values("reflect101", "reflect", "replicate", "wrap", "constant"));

TEST(Chains, OfTwoToSixStepsGiveTheSameBytesOnEveryExecutor) {
  std::mt19937 random(parity_seed);
  RecordProperty("parity_seed", static_cast<int>(parity_seed));
  std::vector<FilterCase> usable;
  for (const FilterCase& c : filter_cases())
    if (c.filter->inputs == 1 || c.step.find("with") != std::string::npos) usable.push_back(c);
  std::vector<ParityRun> flat, volumes;
  const DType dtypes[] = {DType::u8, DType::u16, DType::i16, DType::f32, DType::i32};
  for (int k = 0; k < 60; ++k) {
    std::string chain;
    const int steps = 2 + static_cast<int>(random() % 5);
    for (int s = 0; s < steps; ++s) chain += (s ? "\n" : "") + usable[random() % usable.size()].step;
    const DType dtype = dtypes[random() % 5];
    const int channels = random() % 4 == 0 ? 3 + static_cast<int>(random() % 2) : 1;
    if (k % 4 == 3)
      volumes.push_back({chain, make_desc(dtype, {17, 12, 9}, channels, channels == 4, true)});
    else
      flat.push_back({chain, make_desc(dtype, {45, 31}, channels, channels == 4)});
  }
  precompile_all(flat, false);
  precompile_all(volumes, true);
  int ran = 0;
  for (const auto* list : {&flat, &volumes})
    for (const auto& [chain, desc] : *list) {
      ran += expect_equal(chain, desc);
      if (HasFailure()) return;
    }
  EXPECT_GT(ran, 20) << "too few random chains were valid";
}

TEST(Copies, OneUploadAndOneDownloadAnImage) {
  Executors& e = executors();
  const auto before = e.device->copies();
  const Image image = random_image(make_desc(DType::u16, {45, 31}), parity_seed);
  const std::string steps = "- median: {radius: 1}\n- unsharp: {sigma: 1, amount: 1.5}\n- normalize\n- rescale: uint8";
  const RunResult result = run_on(*e.cuda, steps, image, {}, {small_2d, true});
  const auto after = e.device->copies();
  EXPECT_EQ(after.uploads - before.uploads, 1u);
  EXPECT_EQ(after.downloads - before.downloads, 1u);
  EXPECT_EQ(after.bytes_up - before.bytes_up, 45u * 31u * 2u);
  EXPECT_EQ(result.images[0].desc().dtype, DType::u8);
}

TEST(Memory, AnImageThatDoesNotFitTheDeviceRunsOnTheCpuAndTheNextOneIsClean) {
  const auto twin = make_twin_device(64 * 1024);
  const std::shared_ptr<Executor> cpu = make_cpu_executor();
  const auto cuda = make_cuda_executor(twin, cpu);
  const auto simple = make_simple_executor();
  const Image large = random_image(make_desc(DType::f32, {300, 200}), parity_seed);
  const Image small = random_image(make_desc(DType::f32, {30, 20}), parity_seed);
  const std::string steps = "- linear: {gain: 2, offset: 1}";
  const RunResult fallen = run_on(*cuda, steps, large);
  ASSERT_EQ(fallen.notes.size(), 1u);
  EXPECT_NE(fallen.notes[0].find("ran on the CPU"), std::string::npos);
  EXPECT_EQ(difference(run_on(*simple, steps, large).images[0], fallen.images[0]), "");
  const RunResult next = run_on(*cuda, steps, small);
  EXPECT_TRUE(next.notes.empty());
  EXPECT_EQ(difference(run_on(*simple, steps, small).images[0], next.images[0]), "");
}

}  // namespace
}  // namespace imgpipe::test
