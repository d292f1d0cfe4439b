// The CUDA driver, loaded at run time, with every result checked.
#pragma once

#ifdef IMGPIPE_HAS_CUDA

#include <cuda.h>

#include "pipeline/exec/cuda/library.h"

namespace imgpipe::cuda {

/// Entry points of libcuda.
struct Driver {
  Library library;
  decltype(cuInit)* init;
  decltype(cuDriverGetVersion)* version;
  decltype(cuGetErrorName)* error_name;
  decltype(cuGetErrorString)* error_string;
  decltype(cuDeviceGetCount)* device_count;
  decltype(cuDeviceGet)* device_get;
  decltype(cuDeviceGetName)* device_name;
  decltype(cuDeviceGetAttribute)* device_attribute;
  decltype(cuDeviceTotalMem)* device_memory;
  decltype(cuDevicePrimaryCtxRetain)* context_retain;
  decltype(cuDevicePrimaryCtxRelease)* context_release;
  decltype(cuCtxSetCurrent)* context_set;
  decltype(cuMemGetInfo)* memory_info;
  decltype(cuMemAlloc)* allocate;
  decltype(cuMemFree)* free;
  decltype(cuMemHostAlloc)* host_allocate;
  decltype(cuMemFreeHost)* host_free;
  decltype(cuMemcpyHtoDAsync)* upload;
  decltype(cuMemcpyDtoHAsync)* download;
  decltype(cuMemsetD8Async)* fill;
  decltype(cuStreamCreate)* stream_create;
  decltype(cuStreamDestroy)* stream_destroy;
  decltype(cuStreamWaitEvent)* stream_wait;
  decltype(cuStreamSynchronize)* stream_synchronize;
  decltype(cuEventCreate)* event_create;
  decltype(cuEventDestroy)* event_destroy;
  decltype(cuEventRecord)* event_record;
  decltype(cuEventSynchronize)* event_synchronize;
  decltype(cuEventElapsedTime)* event_elapsed;
  decltype(cuModuleLoadData)* module_load;
  decltype(cuModuleUnload)* module_unload;
  decltype(cuModuleGetFunction)* module_function;
  decltype(cuFuncSetAttribute)* function_set;
  decltype(cuFuncGetAttribute)* function_get;
  decltype(cuOccupancyMaxActiveBlocksPerMultiprocessor)* occupancy;
  decltype(cuLaunchKernel)* launch;

  Driver();
  /// Throws DeviceError; errors after which the context is lost are fatal. Out of memory is OutOfDeviceMemory.
  void check(CUresult result, const char* what) const;
};

/// Loaded and initialised on first use. Throws DeviceError when there is no driver or no device.
const Driver& driver();

}  // namespace imgpipe::cuda

#endif
