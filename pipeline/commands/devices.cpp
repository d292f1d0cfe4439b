#include <cstdio>

#include "io/image/errors.h"
#include "pipeline/commands/options.h"
#include "pipeline/exec/cuda/device.h"

namespace imgpipe::commands {

int devices(const Arguments& arguments) {
  CommandLine line("imgpipe devices", "Lists the GPUs that imgpipe can use, or says why there is none.");
  if (!line.parse(arguments)) return done;
  int index = 0;
  for (const cuda::DeviceInfo& d : cuda::list_devices()) {
    std::printf("device %d: %s\n", index++, d.name.c_str());
    std::printf("  compute capability  %d.%d, %d multiprocessors, %d warps (%d threads) each\n", d.major, d.minor,
                d.multiprocessors, d.warps_per_multiprocessor, d.threads_per_multiprocessor);
    std::printf("  shared memory       %s a block, %s a multiprocessor\n",
                human_bytes(static_cast<double>(d.shared_per_block)).c_str(),
                human_bytes(static_cast<double>(d.shared_per_multiprocessor)).c_str());
    std::printf("  memory              %s, L2 %s, %.0f GB/s by clock and width\n",
                human_bytes(static_cast<double>(d.memory)).c_str(), human_bytes(static_cast<double>(d.l2)).c_str(),
                d.bytes_per_second / 1e9);
    std::printf("  driver              CUDA %s, run-time compiler NVRTC %s\n", d.driver.c_str(), d.compiler.c_str());
  }
  return done;
}

}  // namespace imgpipe::commands
