// The host twin of a CUDA device: kernels are the generated sources compiled for the host with a one-thread block.
#pragma once

#include "pipeline/exec/cuda/device.h"

namespace imgpipe::test {

/// `memory_limit` bytes can be allocated at once.
std::shared_ptr<cuda::Device> make_twin_device(std::int64_t memory_limit = std::int64_t(4) << 30);
/// Compiles these sources together, in a few compiler runs; later `kernel` calls find them.
void precompile(cuda::Device& twin, const std::vector<cuda::KernelSource>& sources);

}  // namespace imgpipe::test
