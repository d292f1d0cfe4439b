// The block size is a choice of speed alone: every size gives the same bytes, compiles for sm_90, and can be timed.
#include <gtest/gtest.h>

#include "io/image/errors.h"
#include "pipeline/exec/cuda/compiler.h"
#include "pipeline/exec/cuda/executor.h"
#include "tests/support/parity.h"
#include "tests/support/twin_device.h"

namespace imgpipe::test {
namespace {

struct SizedCase {
  std::string steps;
  ImageDesc image;
};

/// One chain for every way a block shares out its work: packs, rows, columns, patches, walks along z, reductions.
const std::vector<SizedCase> sized_cases = {
    {"- linear: 1.5\n- gamma: 0.8", make_desc(DType::u8, {999, 37})},
    {"- gaussian: 2", make_desc(DType::f32, {150, 83})},
    {"- gaussian: 10", make_desc(DType::f32, {150, 83})},
    {"- sobel", make_desc(DType::u8, {150, 83}, 4, true)},
    {"- open: 7", make_desc(DType::u8, {150, 83})},
    {"- median: 2", make_desc(DType::u16, {150, 83})},
    {"- median: 5", make_desc(DType::u8, {90, 43})},
    {"- convolve: {kernel: [[1, 2, 1], [2, 4, 2], [1, 2, 1]]}", make_desc(DType::f64, {150, 83})},
    {"- median: 1\n- unsharp: {sigma: 2, amount: 1.5}\n- normalize\n- rescale: uint8",
     make_desc(DType::u16, {150, 83})},
    {"- median: 1\n- gaussian: 1\n- sobel\n- threshold: 1000", make_desc(DType::u16, {40, 30, 20}, 1, false, true)},
};

class BlockSize : public testing::TestWithParam<int> {};

TEST_P(BlockSize, GivesTheSameBytes) {
  const auto device = executors().device;
  const auto executor = make_cuda_executor(device, executors().cpu, GetParam());
  std::vector<cuda::KernelSource> sources;
  for (const SizedCase& c : sized_cases)
    for (const Plan plan = plan_of(c.steps, c.image, {}, Machine::gpu()); const Group& group : plan.groups)
      sources.push_back(cuda::generate(plan.graph, group, true, GetParam()));
  if (!executors().gpu) precompile(*device, sources);
  for (const SizedCase& c : sized_cases) {
    const Image image = random_image(c.image, parity_seed);
    const RunResult expected = run_on(*executors().simple, c.steps, image);
    const RunResult actual = run_on(*executor, c.steps, image, {}, {{}, true});
    EXPECT_TRUE(actual.notes.empty()) << c.steps;
    EXPECT_EQ(difference(expected.images[0], actual.images[0]), "") << c.steps;
    EXPECT_EQ(expected.counts.clipped, actual.counts.clipped) << c.steps;
  }
}

TEST_P(BlockSize, CompilesForSm90) {
#ifdef IMGPIPE_HAS_CUDA
  try {
    cuda::compiler_version();
  } catch (const DeviceError& error) {
    GTEST_SKIP() << "1 test skipped: " << error.what();
  }
  const std::string bounds = ", Args, " + std::to_string(GetParam()) + ", ";
  for (const SizedCase& c : sized_cases)
    for (const Plan plan = plan_of(c.steps, c.image, {}, Machine::gpu()); const Group& group : plan.groups) {
      const cuda::KernelSource source = cuda::generate(plan.graph, group, true, GetParam());
      EXPECT_EQ(source.threads, GetParam());
      EXPECT_NE(source.text.find(bounds), std::string::npos) << source.text;
      EXPECT_FALSE(cuda::cubin_of(source, "sm_90").empty()) << c.steps;
    }
#else
  GTEST_SKIP() << "1 test skipped: built without CUDA";
#endif
}

TEST_P(BlockSize, IsTimedOnBuffersInTurn) {
  const auto device = executors().gpu ? executors().gpu : make_twin_device();
  const Image image = random_image(make_desc(DType::u16, {64, 50}), 1);
  const Image* inputs[] = {&image};
  const Plan plan = plan_of("- median: 1\n- normalize", image.desc(), {}, Machine::gpu());
  const auto before = device->copies();
  const ResidentTimes times = time_resident(*device, plan, inputs, {2, 5, GetParam()});
  EXPECT_EQ(times.seconds.size(), 5u);
  ASSERT_FALSE(times.kernels.empty());
  for (const cuda::Residency& kernel : times.kernels) EXPECT_EQ(kernel.threads, GetParam());
  EXPECT_EQ(device->copies().uploads - before.uploads, 7u) << "the L2 holds all runs' images: each has its own";
  EXPECT_EQ(device->copies().downloads, before.downloads);
}

INSTANTIATE_TEST_SUITE_P(Threads, BlockSize, testing::Values(32, 64, 128, 256, 512, 1024),
                         testing::PrintToStringParamName());

TEST(TimedBuffers, AreFewWhereAnImageFillsTheL2) {
  const auto device = make_twin_device();
  const std::int64_t l2 = device->info().l2;
  const Image image = random_image(make_desc(DType::u8, {l2, 2}), 1);
  const Image* inputs[] = {&image};
  time_resident(*device, plan_of("- invert", image.desc(), {}, Machine::gpu()), inputs, {3, 20});
  EXPECT_EQ(device->copies().uploads, 2u) << "4 times the L2 a set, input and result";
}

}  // namespace
}  // namespace imgpipe::test
