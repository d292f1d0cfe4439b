#include "pipeline/exec/cuda/library.h"

#include <dlfcn.h>

#include "io/image/errors.h"

namespace imgpipe::cuda {

// Never closed: the driver and the compiler keep threads and state until the process ends.
Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if ((handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))) return;
}

void* Library::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  if (!found) throw DeviceError(std::string("the installed CUDA library is too old: it has no ") + name, false);
  return found;
}

}  // namespace imgpipe::cuda
