#include "pipeline/exec/cuda/driver.h"

#ifdef IMGPIPE_HAS_CUDA

#include <fmt/format.h>

#include "pipeline/exec/cuda/device.h"

namespace imgpipe::cuda {

#define IMGPIPE_TEXT_OF(name) #name
#define IMGPIPE_TEXT(name) IMGPIPE_TEXT_OF(name)
// cuda.h maps some names to versioned symbols by macros: the text after expansion is the symbol.
#define IMGPIPE_FIND(member, name) library.find(member, IMGPIPE_TEXT(name))

Driver::Driver() : library({"libcuda.so.1", "libcuda.so"}) {
  if (!library.open()) throw DeviceError("no NVIDIA driver is installed (libcuda.so.1 was not found)", false);
  IMGPIPE_FIND(init, cuInit);
  IMGPIPE_FIND(version, cuDriverGetVersion);
  IMGPIPE_FIND(error_name, cuGetErrorName);
  IMGPIPE_FIND(error_string, cuGetErrorString);
  IMGPIPE_FIND(device_count, cuDeviceGetCount);
  IMGPIPE_FIND(device_get, cuDeviceGet);
  IMGPIPE_FIND(device_name, cuDeviceGetName);
  IMGPIPE_FIND(device_attribute, cuDeviceGetAttribute);
  IMGPIPE_FIND(device_memory, cuDeviceTotalMem);
  IMGPIPE_FIND(context_retain, cuDevicePrimaryCtxRetain);
  IMGPIPE_FIND(context_release, cuDevicePrimaryCtxRelease);
  IMGPIPE_FIND(context_set, cuCtxSetCurrent);
  IMGPIPE_FIND(memory_info, cuMemGetInfo);
  IMGPIPE_FIND(allocate, cuMemAlloc);
  IMGPIPE_FIND(free, cuMemFree);
  IMGPIPE_FIND(host_allocate, cuMemHostAlloc);
  IMGPIPE_FIND(host_free, cuMemFreeHost);
  IMGPIPE_FIND(upload, cuMemcpyHtoDAsync);
  IMGPIPE_FIND(download, cuMemcpyDtoHAsync);
  IMGPIPE_FIND(fill, cuMemsetD8Async);
  IMGPIPE_FIND(stream_create, cuStreamCreate);
  IMGPIPE_FIND(stream_destroy, cuStreamDestroy);
  IMGPIPE_FIND(stream_wait, cuStreamWaitEvent);
  IMGPIPE_FIND(stream_synchronize, cuStreamSynchronize);
  IMGPIPE_FIND(event_create, cuEventCreate);
  IMGPIPE_FIND(event_destroy, cuEventDestroy);
  IMGPIPE_FIND(event_record, cuEventRecord);
  IMGPIPE_FIND(event_synchronize, cuEventSynchronize);
  IMGPIPE_FIND(event_elapsed, cuEventElapsedTime);
  IMGPIPE_FIND(module_load, cuModuleLoadData);
  IMGPIPE_FIND(module_unload, cuModuleUnload);
  IMGPIPE_FIND(module_function, cuModuleGetFunction);
  IMGPIPE_FIND(function_set, cuFuncSetAttribute);
  IMGPIPE_FIND(function_get, cuFuncGetAttribute);
  IMGPIPE_FIND(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor);
  IMGPIPE_FIND(launch, cuLaunchKernel);
  check(init(0), "CUDA cannot start");
}

void Driver::check(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  error_string(result, &text);
  const std::string message = fmt::format("{}: {}", what, text ? text : "unknown error");
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw OutOfDeviceMemory(message);
  const bool fatal = result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_FAILED ||
                     result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ECC_UNCORRECTABLE ||
                     result == CUDA_ERROR_ILLEGAL_INSTRUCTION || result == CUDA_ERROR_MISALIGNED_ADDRESS ||
                     result == CUDA_ERROR_INVALID_ADDRESS_SPACE || result == CUDA_ERROR_INVALID_PC ||
                     result == CUDA_ERROR_HARDWARE_STACK_ERROR || result == CUDA_ERROR_ASSERT;
  throw DeviceError(message, fatal);
}

const Driver& driver() {
  static const Driver loaded;
  return loaded;
}

}  // namespace imgpipe::cuda

#endif
