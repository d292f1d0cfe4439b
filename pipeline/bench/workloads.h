// The named chains that are timed, and the images they are timed on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/image/image.h"

namespace imgpipe::bench {

struct Workload {
  const char* name;
  ImageDesc image;      ///< on the GPU
  ImageDesc cpu_image;  ///< on the CPU
  const char* steps;    ///< a YAML list
};

/// In the order in which they are timed.
std::span<const Workload> workloads();
/// Nothing when there is none of this name.
const Workload* find_workload(const std::string& name);
std::vector<std::string> workload_names();

/// Random samples, the same for the same `seed`: uniform over an integer dtype, over [0, 1) for floats.
Image random_pixels(const ImageDesc& desc, std::uint64_t seed);

}  // namespace imgpipe::bench
