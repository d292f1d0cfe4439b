#include "pipeline/exec/backend.h"

#include "io/image/errors.h"
#include "pipeline/exec/cuda/executor.h"

namespace imgpipe {

ChosenBackend choose_backend(const BackendOptions& options) {
  if (options.backend == Backend::simple) return {make_simple_executor(), ""};
  if (options.backend == Backend::cpu) return {make_cpu_executor(), ""};
  try {
    return {make_cuda_executor(cuda::open_device({options.device, {}}), make_cpu_executor()), ""};
  } catch (const DeviceError& error) {
    if (options.backend == Backend::cuda) throw DeviceError(std::string("--backend cuda: ") + error.what(), false);
    return {make_cpu_executor(), std::string("runs on the CPU: ") + error.what()};
  }
}

}  // namespace imgpipe
