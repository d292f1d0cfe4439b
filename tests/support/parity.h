// The comparison of all executors: a chain runs on each, tiled and untiled, and must give the same bytes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/exec/cuda/device.h"
#include "tests/support/chain.h"

namespace imgpipe::test {

constexpr unsigned parity_seed = 20240607;
inline const PlanOptions small_2d{true, {16, 8, 1}};
inline const PlanOptions small_3d{true, {8, 4, 4}};

/// Shared by all tests of a program. Where there is a GPU it takes the place of its twin on the host.
struct Executors {
  std::shared_ptr<cuda::Device> gpu, device;
  std::unique_ptr<Executor> simple;
  std::shared_ptr<Executor> cpu;
  std::unique_ptr<Executor> cuda;
};
Executors& executors();

/// A chain, as YAML steps, and the image that it runs on.
using ParityRun = std::pair<std::string, ImageDesc>;

/// Compiles what a list of runs needs, on all cores.
void precompile_all(const std::vector<ParityRun>& runs, bool volume);

/// Runs one chain on one random image everywhere and fails the test where the bytes, counts or reports differ; false
/// when the chain does not take such an image.
bool expect_equal(const std::string& steps, const ImageDesc& desc);

}  // namespace imgpipe::test
