// Launches the reductions that do not ride on a store.
#pragma once

#include "pipeline/exec/cuda/device.h"

namespace imgpipe::cuda {

/// A stored image as a reduction sees it.
struct ReducedImage {
  Address data;
  std::int32_t stride_x, stride_y;
  std::int64_t stride_z;
  Extent extent;
  DType dtype;
  int colours;
  bool whole;
};

/// Leaves the scalars of `op` at `scalars` in device memory.
void launch_reduction(Device& device, Job& job, const ReduceOp& op, const ReducedImage& image, Address scalars);

}  // namespace imgpipe::cuda
