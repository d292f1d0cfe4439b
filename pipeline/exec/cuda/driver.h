// The CUDA driver, loaded at run time, with every result checked.
#pragma once

#ifdef IMGPIPE_HAS_CUDA

#include <cuda.h>

#include <utility>

#include "pipeline/exec/cuda/device.h"
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
  decltype(cuPointerGetAttributes)* pointer_attributes;
  decltype(cuMemHostAlloc)* host_allocate;
  decltype(cuMemFreeHost)* host_free;
  decltype(cuMemcpyHtoDAsync)* upload;
  decltype(cuMemcpyDtoHAsync)* download;
  decltype(cuMemcpyDtoDAsync)* copy;
  decltype(cuMemsetD8Async)* fill;
  decltype(cuStreamCreate)* stream_create;
  decltype(cuStreamDestroy)* stream_destroy;
  decltype(cuStreamWaitEvent)* stream_wait;
  decltype(cuStreamSynchronize)* stream_synchronize;
  decltype(cuLaunchHostFunc)* host_function;
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

/// Throws DeviceError that says which devices there are.
CUdevice device_at(int index);
DeviceInfo describe_device(CUdevice device);

/// Owns a handle of the driver; empty after a move.
template <class H, auto destroy>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (handle_) (driver().*destroy)(handle_);
  }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  H get() const { return handle_; }

 protected:
  H handle_ = nullptr;
};

/// The primary context of a device. Work of a thread needs `use` first.
class Context {
 public:
  explicit Context(CUdevice device);
  ~Context();
  Context(Context&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Context& operator=(Context&&) = delete;
  void use() const;

 private:
  CUdevice device_;
  CUcontext handle_ = nullptr;
};

/// A stream that does not wait for the default stream.
class Stream : public Owned<CUstream, &Driver::stream_destroy> {
 public:
  Stream();
};

/// A point in a stream, with its time. Waiting for it sleeps.
class Event : public Owned<CUevent, &Driver::event_destroy> {
 public:
  Event();
  void record(const Stream& stream);
  /// What comes later in `stream` waits for the event.
  void hold(const Stream& stream) const;
  void wait() const;
  bool recorded() const { return recorded_; }
  double seconds_since(const Event& start) const;

 private:
  bool recorded_ = false;
};

/// Code loaded on the device.
class Module : public Owned<CUmodule, &Driver::module_unload> {
 public:
  explicit Module(const std::string& cubin);
  CUfunction function(const std::string& name) const;
};

}  // namespace imgpipe::cuda

#endif
