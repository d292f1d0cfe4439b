// The CUDA executor on the real device: very large volumes, many images, and repeated runs.
#include "pipeline/exec/cuda/executor.h"

#include <gtest/gtest.h>

#include "tests/support/chain.h"

namespace imgpipe::test {
namespace {

class OnTheDevice : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device = cuda::open_device();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "1 device test skipped: " << error.what();
    }
    executor = make_cuda_executor(device, cpu);
  }
  RunResult run(const std::string& steps, const Image& image) {
    return run_on(*executor, steps, image, {}, {{}, true});
  }
  std::shared_ptr<cuda::Device> device;
  std::shared_ptr<Executor> cpu = make_cpu_executor();
  std::unique_ptr<Executor> executor;
};

/// Slices [first, first + count) of a volume.
Image slab(const Image& volume, std::int64_t first, std::int64_t count) {
  ImageDesc desc = volume.desc();
  const std::int64_t slice = desc.extent.width * desc.extent.height;
  desc.extent.depth = count;
  Image part(desc);
  std::memcpy(part.samples<std::uint8_t>(), volume.samples<std::uint8_t>() + first * slice, slice * count);
  return part;
}

TEST_F(OnTheDevice, VolumesPastTwoToTheThirtyOneSamples) {
  constexpr std::int64_t n = 1300, radius = 4;
  Image volume(make_desc(DType::u8, {n, n, n}, 1, false, true));
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t i = 0; i < n * n; ++i)
      volume.samples<std::uint8_t>()[z * n * n + i] = static_cast<std::uint8_t>((z % 7) * 30 + i % 11);
  for (const std::string steps : {"- gaussian: 1", "- threshold: 100", "- median: 1\n- linear: 1.1"}) {
    const RunResult result = run(steps, volume);
    ASSERT_TRUE(result.notes.empty()) << result.notes[0];
    for (std::int64_t z : {std::int64_t(0), n / 2, n - 1}) {
      const std::int64_t first = std::max<std::int64_t>(0, z - radius), last = std::min(n - 1, z + radius);
      const Image around = slab(volume, first, last - first + 1);
      const Image expected = slab(run_on(*cpu, steps, around).images[0], z - first, 1);
      EXPECT_EQ(difference(expected, slab(result.images[0], z, 1)), "") << steps << " at slice " << z;
    }
  }
}

TEST_F(OnTheDevice, ManyImagesKeepItsMemoryFlat) {
  const Extent sizes[] = {{640, 480}, {1000, 31}, {2048, 2048}, {17, 1300}, {1024, 768}};
  const auto one = [&](int k) {
    const Image image = random_image(make_desc(DType::u16, sizes[k % 5]), static_cast<unsigned>(k));
    ASSERT_TRUE(run("- median: 1\n- gaussian: 2\n- normalize", image).notes.empty());
  };
  for (int k = 0; k < 50; ++k) one(k);
  const auto before = static_cast<double>(device->info().free_memory);
  for (int k = 50; k < 500; ++k) one(k);
  EXPECT_NEAR(static_cast<double>(device->info().free_memory), before, 0.05 * before);
}

TEST_F(OnTheDevice, RepeatedRunsGiveTheSameBytes) {
  const Image image = random_image(make_desc(DType::f32, {1023, 1025}), 5);
  for (const std::string steps :
       {"- normalize: {low: 1%, high: 99%}", "- stats\n- gaussian: 3", "- threshold: mean", "- threshold: otsu"}) {
    const RunResult first = run(steps, image);
    for (int k = 0; k < 5; ++k) {
      const RunResult again = run(steps, image);
      EXPECT_EQ(difference(first.images[0], again.images[0]), "") << steps;
      EXPECT_EQ(first.reports, again.reports) << steps;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test
