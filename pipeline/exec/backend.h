// Which executor a run uses.
#pragma once

#include <string>

#include "pipeline/exec/executor.h"

namespace imgpipe {

enum class Backend { automatic, simple, cpu, cuda };

struct BackendOptions {
  Backend backend = Backend::automatic;
  int device = 0;
};

struct ChosenBackend {
  std::shared_ptr<Executor> executor;
  std::string note;  ///< why `automatic` took the CPU; "" otherwise
};

/// Throws DeviceError when `cuda` is asked for and no device can be used.
ChosenBackend choose_backend(const BackendOptions& options);

}  // namespace imgpipe
