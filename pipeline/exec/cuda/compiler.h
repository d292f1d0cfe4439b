// Kernel sources -> cubins, by NVRTC, through the cache on disk.
#pragma once

#include "pipeline/exec/cuda/device.h"

namespace imgpipe::cuda {

/// Version of the run-time compiler, "13.0". Throws DeviceError when there is none.
std::string compiler_version();
/// The newest architecture that the compiler knows and a device of this capability runs: "sm_90".
std::string architecture_for(int major, int minor);
/// `compile` through the cache.
std::string cubin_of(const KernelSource& source, const std::string& architecture);

}  // namespace imgpipe::cuda
