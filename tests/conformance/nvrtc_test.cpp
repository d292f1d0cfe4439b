// Every generated kernel compiles for sm_90 with the run-time compiler: no device is needed.
#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <map>
#include <mutex>

#include "io/image/errors.h"
#include "pipeline/exec/cuda/compiler.h"
#include "tests/conformance/cases.h"
#include "tests/support/chain.h"

namespace imgpipe::test {
namespace {

bool has_compiler() {
#ifdef IMGPIPE_HAS_CUDA
  try {
    cuda::compiler_version();
    return true;
  } catch (const DeviceError&) {
    return false;
  }
#else
  return false;
#endif
}

/// The kernels of every filter at full tile size, 2D and 3D: one dtype of each compute type, and colour with alpha.
std::map<std::string, cuda::KernelSource> kernels() {
  std::map<std::string, cuda::KernelSource> all;
  const std::vector<ImageDesc> images = {make_desc(DType::u8, {1000, 800}), make_desc(DType::u16, {1000, 800}, 4, true),
                                         make_desc(DType::f64, {1000, 800}),
                                         make_desc(DType::f32, {200, 200, 100}, 1, false, true)};
  for (const FilterCase& c : filter_cases())
    for (const ImageDesc& image : images) {
      try {
        const Plan plan = plan_of(c.step, image, {image}, Machine::gpu());
        for (const Group& group : plan.groups) {
          cuda::KernelSource source = cuda::generate(plan.graph, group, true);
          all.emplace(source.name, std::move(source));
        }
      } catch (const UsageError&) {
        // This filter does not take such an image.
      }
    }
  return all;
}

TEST(Nvrtc, CompilesEveryKernelForSm90) {
  if (!has_compiler()) GTEST_SKIP() << "1 test skipped: no NVRTC on this machine";
  const auto all = kernels();
  std::vector<const cuda::KernelSource*> list;
  for (const auto& [name, source] : all) list.push_back(&source);
  std::mutex mutex;
  std::atomic<std::size_t> compiled{0};
  tbb::parallel_for(std::size_t(0), list.size(), [&](std::size_t i) {
    try {
      EXPECT_FALSE(cuda::compile(*list[i], "sm_90").empty());
      ++compiled;
    } catch (const DeviceError& error) {
      const std::lock_guard lock(mutex);
      ADD_FAILURE() << error.what() << "\n" << list[i]->text;
    }
  });
  EXPECT_EQ(compiled, list.size());
  EXPECT_GT(list.size(), 50u);
  std::printf("%zu kernels compiled for sm_90\n", list.size());
}

}  // namespace
}  // namespace imgpipe::test
