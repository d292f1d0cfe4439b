// The CUDA executor: one kernel a group, one upload and one download an image.
#pragma once

#include "pipeline/exec/cuda/device.h"
#include "pipeline/exec/executor.h"

namespace imgpipe {

/// When device memory runs out, an image runs on `fallback` and the result's notes say so. `threads` of a block: a
/// multiple of 32, up to 1024; the bytes of the result do not depend on it.
std::unique_ptr<Executor> make_cuda_executor(std::shared_ptr<cuda::Device> device, std::shared_ptr<Executor> fallback,
                                             int threads = cuda::default_threads);

struct ResidentOptions {
  int warm_up = 3, repeats = 20;
  int threads = cuda::default_threads;  ///< of a block
};
struct ResidentTimes {
  std::vector<double> seconds;           ///< of device time, one for each of `repeats` runs
  std::vector<cuda::Residency> kernels;  ///< one for each group with a kernel
};
/// Times runs of the plan's groups with the images in device memory already. Runs take turns with as many copies of
/// the images as it takes that none finds its own in the L2.
ResidentTimes time_resident(cuda::Device& device, const Plan& plan, std::span<const Image* const> inputs,
                            const ResidentOptions& options = {});

}  // namespace imgpipe
