// The CUDA executor: one kernel a group, one upload and one download an image.
#pragma once

#include "pipeline/exec/cuda/device.h"
#include "pipeline/exec/executor.h"

namespace imgpipe {

/// When device memory runs out, an image runs on `fallback` and the result's notes say so.
std::unique_ptr<Executor> make_cuda_executor(std::shared_ptr<cuda::Device> device, std::shared_ptr<Executor> fallback);

/// Seconds of device time of one run of the plan's groups with the images in device memory already: one for each of
/// `repeats` runs, after `warm_up` more.
std::vector<double> time_resident(cuda::Device& device, const Plan& plan, std::span<const Image* const> inputs,
                                  int warm_up, int repeats);

}  // namespace imgpipe
