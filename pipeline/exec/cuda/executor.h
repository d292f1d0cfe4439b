// The CUDA executor: one kernel a group, one upload and one download an image.
#pragma once

#include "pipeline/exec/cuda/device.h"
#include "pipeline/exec/executor.h"

namespace imgpipe {

/// When device memory runs out, an image runs on `fallback` and the result's notes say so.
std::unique_ptr<Executor> make_cuda_executor(std::shared_ptr<cuda::Device> device,
                                             std::shared_ptr<Executor> fallback);

}  // namespace imgpipe
