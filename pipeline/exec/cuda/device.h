// What the CUDA executor asks of a device: memory, kernels from source, and jobs (one image's uploads, launches and
// downloads in order). The driver implements it; so does the host twin of the tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/image/errors.h"
#include "pipeline/exec/cuda/codegen.h"

namespace imgpipe::cuda {

/// An address in device memory.
using Address = std::uint64_t;

struct DeviceInfo {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  int warps_per_multiprocessor = 0, threads_per_multiprocessor = 0;
  std::int64_t shared_per_block = 0;  ///< bytes, opt-in
  std::int64_t shared_per_multiprocessor = 0;
  std::int64_t memory = 0, free_memory = 0, l2 = 0;
  double bytes_per_second = 0;   ///< of device memory, by clock and bus width
  std::string driver, compiler;  ///< versions
};

/// Copies between host and device so far: what a test counts.
struct CopyCounts {
  std::uint64_t uploads = 0, downloads = 0;
  std::uint64_t bytes_up = 0, bytes_down = 0;
};

/// How a kernel sits on a multiprocessor.
struct Residency {
  int threads = 0;    ///< of a block
  int blocks = 0;     ///< that a multiprocessor holds at once; 0: the device does not say
  int registers = 0;  ///< a thread
  std::int64_t shared_bytes = 0, spilled_bytes = 0;  ///< a block, a thread
};

/// A compiled kernel, loaded on the device.
class Kernel {
 public:
  virtual ~Kernel() = default;
};

/// The work for one image, in order; several jobs overlap. Memory of a job is released when it is destroyed, after
/// its work has ended. All calls may throw DeviceError; `allocate` throws OutOfDeviceMemory.
class Job {
 public:
  virtual ~Job() = default;
  virtual Address allocate(std::int64_t bytes) = 0;
  /// Gives memory back for later allocations of this job, in order of its work.
  virtual void release(Address address) = 0;
  virtual void upload(Address to, const void* from, std::int64_t bytes) = 0;
  virtual void fill(Address to, unsigned char value, std::int64_t bytes) = 0;
  /// Within device memory, in order with the launches.
  virtual void copy(Address to, Address from, std::int64_t bytes) = 0;
  /// `arguments` is the one argument struct of the kernel.
  virtual void launch(const std::shared_ptr<Kernel>& kernel, std::int64_t blocks,
                      std::span<const std::byte> arguments) = 0;
  /// `to` is valid after `wait`.
  virtual void download(void* to, Address from, std::int64_t bytes) = 0;
  virtual void wait() = 0;
  /// Seconds of device time that the launches of `work` take; waits for them.
  virtual double time(const std::function<void()>& work) = 0;
  /// Seconds of device time, after `wait`.
  virtual double upload_seconds() const = 0;
  virtual double compute_seconds() const = 0;
  virtual double download_seconds() const = 0;
};

struct OutOfDeviceMemory : DeviceError {
  explicit OutOfDeviceMemory(const std::string& text) : DeviceError(text, false) {}
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  /// Compiled once a text, from the cache where it is known. Threads asking for one text wait for one compile.
  virtual std::shared_ptr<Kernel> kernel(const KernelSource& source) = 0;
  virtual Residency residency(const Kernel& kernel) const = 0;
  virtual std::unique_ptr<Job> job() = 0;
  virtual CopyCounts copies() const = 0;
};

/// Compiles to a cubin for `architecture` ("sm_90"); needs the compiler library but no device. Throws DeviceError
/// with the compiler's log.
std::string compile(const KernelSource& source, const std::string& architecture);

struct DeviceOptions {
  int index = 0;
  std::optional<std::int64_t> memory_limit;  ///< bytes of device memory that jobs may take together
};
/// Opens a device. Throws DeviceError that says why none can be used (no driver, no device, no compiler library, …).
std::shared_ptr<Device> open_device(const DeviceOptions& options = {});
/// All devices, or DeviceError as above.
std::vector<DeviceInfo> list_devices();

}  // namespace imgpipe::cuda
