#include "pipeline/exec/cuda/driver.h"

#ifdef IMGPIPE_HAS_CUDA

#include <fmt/format.h>

#include "pipeline/exec/cuda/compiler.h"

namespace imgpipe::cuda {
namespace {

/// Errors that stick to the context: every later call of the process fails too.
bool loses_context(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  driver().check(driver().device_attribute(&value, which, device), "device attribute");
  return value;
}

std::string driver_version() {
  int version = 0;
  driver().check(driver().version(&version), "driver version");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

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
  IMGPIPE_FIND(pointer_attributes, cuPointerGetAttributes);
  IMGPIPE_FIND(host_allocate, cuMemHostAlloc);
  IMGPIPE_FIND(host_free, cuMemFreeHost);
  IMGPIPE_FIND(upload, cuMemcpyHtoDAsync);
  IMGPIPE_FIND(download, cuMemcpyDtoHAsync);
  IMGPIPE_FIND(copy, cuMemcpyDtoDAsync);
  IMGPIPE_FIND(fill, cuMemsetD8Async);
  IMGPIPE_FIND(stream_create, cuStreamCreate);
  IMGPIPE_FIND(stream_destroy, cuStreamDestroy);
  IMGPIPE_FIND(stream_wait, cuStreamWaitEvent);
  IMGPIPE_FIND(stream_synchronize, cuStreamSynchronize);
  IMGPIPE_FIND(host_function, cuLaunchHostFunc);
  IMGPIPE_FIND(event_create, cuEventCreate);
  IMGPIPE_FIND(event_destroy, cuEventDestroy);
  IMGPIPE_FIND(event_record, cuEventRecord);
  IMGPIPE_FIND(event_synchronize, cuEventSynchronize);
  library.find(event_elapsed, "cuEventElapsedTime");  // drivers before 12.8 lack the version that cuda.h names
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
  const char *name = nullptr, *text = nullptr;
  error_name(result, &name);
  error_string(result, &text);
  const std::string message = fmt::format("{}: {} ({})", what, text ? text : "unknown error",
                                          name ? std::string(name) : std::to_string(static_cast<int>(result)));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw OutOfDeviceMemory(message);
  throw DeviceError(message, loses_context(result));
}

const Driver& driver() {
  static const Driver loaded;
  return loaded;
}

DeviceInfo describe_device(CUdevice device) {
  DeviceInfo info;
  char name[256] = "";
  driver().check(driver().device_name(name, sizeof name, device), "device name");
  info.name = name;
  info.major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  info.minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.threads_per_multiprocessor = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  info.warps_per_multiprocessor = info.threads_per_multiprocessor / attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  info.shared_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  info.shared_per_multiprocessor = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  info.l2 = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  const double kilohertz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  info.bytes_per_second = 2 * kilohertz * 1e3 * attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
  std::size_t memory = 0;
  driver().check(driver().device_memory(&memory, device), "device memory");
  info.memory = static_cast<std::int64_t>(memory);
  info.driver = driver_version();
  info.compiler = compiler_version();
  return info;
}

CUdevice device_at(int index) {
  int count = 0;
  driver().check(driver().device_count(&count), "counting devices");
  if (count == 0) throw DeviceError("the driver finds no CUDA device", false);
  if (index < 0 || index >= count)
    throw DeviceError(fmt::format("there is no device {}: the devices are 0 to {}", index, count - 1), false);
  CUdevice device = 0;
  driver().check(driver().device_get(&device, index), "device");
  return device;
}

Context::Context(CUdevice device) : device_(device) {
  driver().check(driver().context_retain(&handle_, device_), "device context");
}
Context::~Context() {
  if (handle_) driver().context_release(device_);
}
void Context::use() const { driver().check(driver().context_set(handle_), "device context"); }

Stream::Stream() { driver().check(driver().stream_create(&handle_, CU_STREAM_NON_BLOCKING), "stream"); }

Event::Event() { driver().check(driver().event_create(&handle_, CU_EVENT_BLOCKING_SYNC), "event"); }
void Event::record(const Stream& stream) {
  driver().check(driver().event_record(handle_, stream.get()), "event");
  recorded_ = true;
}
void Event::hold(const Stream& stream) const {
  if (recorded_) driver().check(driver().stream_wait(stream.get(), handle_, 0), "event");
}
void Event::wait() const {
  if (recorded_) driver().check(driver().event_synchronize(handle_), "device work");
}
double Event::seconds_since(const Event& start) const {
  if (!recorded_ || !start.recorded_) return 0;
  float ms = 0;
  driver().check(driver().event_elapsed(&ms, start.handle_, handle_), "event");
  return ms * 1e-3;
}

Module::Module(const std::string& cubin) {
  driver().check(driver().module_load(&handle_, cubin.data()), "loading a kernel");
}
CUfunction Module::function(const std::string& name) const {
  CUfunction found = nullptr;
  driver().check(driver().module_function(&found, handle_, name.c_str()), "loading a kernel");
  return found;
}

}  // namespace imgpipe::cuda

#endif
