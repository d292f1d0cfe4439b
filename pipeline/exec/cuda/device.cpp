#include "pipeline/exec/cuda/device.h"

#ifdef IMGPIPE_HAS_CUDA

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <map>
#include <set>

#include "pipeline/exec/cuda/compiler.h"
#include "pipeline/exec/cuda/driver.h"
#include "pipeline/exec/cuda/memory.h"

namespace imgpipe::cuda {
namespace {

/// Copies with as many cores as a large copy can use.
void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  constexpr std::int64_t chunk = 1 << 20;
  if (bytes < 8 * chunk) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, (bytes + chunk - 1) / chunk), [&](const auto& range) {
    const std::int64_t begin = range.begin() * chunk, end = std::min(bytes, range.end() * chunk);
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

class Stream {
 public:
  Stream() { driver().check(driver().stream_create(&handle_, CU_STREAM_NON_BLOCKING), "stream"); }
  ~Stream() { driver().stream_destroy(handle_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  CUstream get() const { return handle_; }

 private:
  CUstream handle_ = nullptr;
};

class Event {
 public:
  Event() { driver().check(driver().event_create(&handle_, CU_EVENT_BLOCKING_SYNC), "event"); }
  ~Event() { driver().event_destroy(handle_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(const Stream& stream) {
    driver().check(driver().event_record(handle_, stream.get()), "event");
    recorded_ = true;
  }
  void hold(const Stream& stream) const {
    if (recorded_) driver().check(driver().stream_wait(stream.get(), handle_, 0), "event");
  }
  void wait() const {
    if (recorded_) driver().check(driver().event_synchronize(handle_), "device work");
  }
  double seconds_since(const Event& start) const {
    if (!recorded_ || !start.recorded_) return 0;
    float ms = 0;
    driver().check(driver().event_elapsed(&ms, start.handle_, handle_), "event");
    return ms * 1e-3;
  }

 private:
  CUevent handle_ = nullptr;
  bool recorded_ = false;
};

class LoadedKernel : public Kernel {
 public:
  LoadedKernel(const KernelSource& source, const std::string& cubin)
      : threads(source.threads), shared(source.shared_bytes) {
    driver().check(driver().module_load(&module_, cubin.data()), "loading a kernel");
    driver().check(driver().module_function(&function, module_, source.name.c_str()), "loading a kernel");
    if (shared > 48 * 1024)
      driver().check(
          driver().function_set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared)),
          "shared memory of a kernel");
  }
  ~LoadedKernel() override { driver().module_unload(module_); }
  CUfunction function = nullptr;
  int threads;
  std::int64_t shared;

 private:
  CUmodule module_ = nullptr;
};

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  driver().check(driver().device_attribute(&value, which, device), "device attribute");
  return value;
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
  int version = 0;
  driver().check(driver().version(&version), "driver version");
  info.driver = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  return info;
}

class CudaJob;

class CudaDevice : public Device {
 public:
  CudaDevice(const DeviceOptions& options) {
    int count = 0;
    driver().check(driver().device_count(&count), "counting devices");
    if (count == 0) throw DeviceError("the driver finds no CUDA device", false);
    if (options.index < 0 || options.index >= count)
      throw DeviceError(fmt::format("there is no device {}: the devices are 0 to {}", options.index, count - 1), false);
    driver().check(driver().device_get(&device_, options.index), "device");
    driver().check(driver().context_retain(&context_, device_), "device context");
    use();
    info_ = describe_device(device_);
    info_.compiler = compiler_version();
    architecture_ = architecture_for(info_.major, info_.minor);
    streams_ = std::make_unique<Streams>();
    memory_ = std::make_unique<BlockPool>(
        [](std::int64_t bytes) {
          CUdeviceptr block = 0;
          const CUresult result = driver().allocate(&block, static_cast<std::size_t>(bytes));
          if (result == CUDA_ERROR_OUT_OF_MEMORY) return std::uint64_t(0);
          driver().check(result, "device memory");
          return static_cast<std::uint64_t>(block);
        },
        [](std::uint64_t block) { driver().free(block); }, options.memory_limit, std::nullopt);
    pinned_ = std::make_unique<BlockPool>(
        [](std::int64_t bytes) {
          void* block = nullptr;
          if (driver().host_allocate(&block, static_cast<std::size_t>(bytes), CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
            return std::uint64_t(0);
          return reinterpret_cast<std::uint64_t>(block);
        },
        [](std::uint64_t block) { driver().host_free(reinterpret_cast<void*>(block)); }, std::nullopt,
        std::int64_t(4) << 30);
  }

  ~CudaDevice() override {
    driver().context_set(context_);
    kernels_.clear();
    memory_.reset();
    pinned_.reset();
    streams_.reset();
    driver().context_release(device_);
  }

  /// Every thread that talks to the device calls this first.
  void use() const { driver().check(driver().context_set(context_), "device context"); }

  DeviceInfo info() const override {
    use();
    DeviceInfo info = info_;
    std::size_t free = 0, total = 0;
    driver().check(driver().memory_info(&free, &total), "device memory");
    info.free_memory = static_cast<std::int64_t>(free);
    return info;
  }

  std::shared_ptr<Kernel> kernel(const KernelSource& source) override {
    std::promise<std::shared_ptr<Kernel>> promise;
    std::shared_future<std::shared_ptr<Kernel>> future;
    bool mine = false;
    {
      const std::lock_guard lock(kernels_mutex_);
      auto known = kernels_.find(source.text);
      mine = known == kernels_.end();
      if (mine) known = kernels_.emplace(source.text, promise.get_future().share()).first;
      future = known->second;
    }
    if (mine) {
      try {
        use();
        promise.set_value(std::make_shared<LoadedKernel>(source, cubin_of(source, architecture_)));
      } catch (...) {
        promise.set_exception(std::current_exception());
        const std::lock_guard lock(kernels_mutex_);
        kernels_.erase(source.text);
      }
    }
    return future.get();
  }

  std::unique_ptr<Job> job() override;
  CopyCounts copies() const override { return {uploads, downloads, bytes_up, bytes_down}; }

  struct Streams {
    Stream upload, compute, download;
  };
  Streams& streams() { return *streams_; }
  BlockPool& memory() { return *memory_; }
  BlockPool& pinned() { return *pinned_; }
  std::mutex enqueue;
  std::atomic<std::uint64_t> uploads{0}, downloads{0}, bytes_up{0}, bytes_down{0};

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  DeviceInfo info_;
  std::string architecture_;
  std::unique_ptr<Streams> streams_;
  std::unique_ptr<BlockPool> memory_, pinned_;
  std::mutex kernels_mutex_;
  std::map<std::string, std::shared_future<std::shared_ptr<Kernel>>> kernels_;
};

class CudaJob : public Job {
 public:
  explicit CudaJob(CudaDevice& device) : device_(device), in_use_(device) {}

  ~CudaJob() override {
    driver().stream_synchronize(device_.streams().upload.get());
    if (pending_) {
      driver().stream_synchronize(device_.streams().compute.get());
      driver().stream_synchronize(device_.streams().download.get());
    }
    for (Address block : blocks_) device_.memory().give(block);
    for (std::uint64_t slot : slots_) device_.pinned().give(slot);
  }

  Address allocate(std::int64_t bytes) override {
    for (auto it = released_.begin(); it != released_.end(); ++it)
      if (it->second >= bytes && it->second <= 2 * bytes + 65536) {
        const Address block = it->first;
        released_.erase(it);
        return block;
      }
    const Address block = device_.memory().take(bytes);
    if (block == 0)
      throw OutOfDeviceMemory(fmt::format("out of device memory ({:.1f} MiB more were needed)", bytes / 1048576.0));
    blocks_.insert(block);
    sizes_[block] = bytes;
    return block;
  }

  void release(Address address) override { released_.emplace_back(address, sizes_.at(address)); }

  void upload(Address to, const void* from, std::int64_t bytes) override {
    void* slot = pinned(bytes);
    copy_bytes(slot, from, bytes);
    const std::lock_guard lock(device_.enqueue);
    if (!uploading_) upload_begin_.record(device_.streams().upload);
    uploading_ = true;
    driver().check(driver().upload(to, slot, static_cast<std::size_t>(bytes), device_.streams().upload.get()),
                   "upload");
    upload_end_.record(device_.streams().upload);
    ++device_.uploads;
    device_.bytes_up += static_cast<std::uint64_t>(bytes);
  }

  void fill(Address to, unsigned char value, std::int64_t bytes) override {
    const std::lock_guard lock(device_.enqueue);
    begin_compute();
    driver().check(driver().fill(to, value, static_cast<std::size_t>(bytes), device_.streams().compute.get()), "fill");
  }

  void launch(const std::shared_ptr<Kernel>& kernel, std::int64_t blocks,
              std::span<const std::byte> arguments) override {
    auto& loaded = static_cast<LoadedKernel&>(*kernel);
    kernels_.push_back(kernel);
    alignas(16) std::byte copy[32752];
    if (arguments.size() > sizeof copy) throw DeviceError("the parameters of a kernel pass 32 KiB", false);
    std::memcpy(copy, arguments.data(), arguments.size());
    void* pointers[] = {copy};
    const std::lock_guard lock(device_.enqueue);
    begin_compute();
    driver().check(
        driver().launch(loaded.function, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(loaded.threads), 1,
                        1, static_cast<unsigned>(loaded.shared), device_.streams().compute.get(), pointers, nullptr),
        "launch");
  }

  void download(void* to, Address from, std::int64_t bytes) override {
    void* slot = pinned(bytes);
    const std::lock_guard lock(device_.enqueue);
    begin_compute();
    compute_end_.record(device_.streams().compute);
    compute_end_.hold(device_.streams().download);
    download_begin_.record(device_.streams().download);
    driver().check(driver().download(slot, from, static_cast<std::size_t>(bytes), device_.streams().download.get()),
                   "download");
    download_end_.record(device_.streams().download);
    copies_.push_back({to, slot, bytes});
    ++device_.downloads;
    device_.bytes_down += static_cast<std::uint64_t>(bytes);
  }

  void wait() override {
    if (copies_.empty()) {
      const std::lock_guard lock(device_.enqueue);
      compute_end_.record(device_.streams().compute);
    }
    compute_end_.wait();
    download_end_.wait();
    pending_ = false;
    for (const Copy& copy : copies_) copy_bytes(copy.to, copy.slot, copy.bytes);
    copies_.clear();
  }

  double time(const std::function<void()>& work) override {
    Event begin, end;
    driver().check(driver().stream_synchronize(device_.streams().compute.get()), "device work");
    begin.record(device_.streams().compute);
    work();
    end.record(device_.streams().compute);
    end.wait();
    return end.seconds_since(begin);
  }

  double upload_seconds() const override { return upload_end_.seconds_since(upload_begin_); }
  double compute_seconds() const override { return compute_end_.seconds_since(compute_begin_); }
  double download_seconds() const override { return download_end_.seconds_since(download_begin_); }

 private:
  /// Makes the context current before the events are made.
  struct InUse {
    explicit InUse(const CudaDevice& device) { device.use(); }
  };
  struct Copy {
    void* to;
    void* slot;
    std::int64_t bytes;
  };

  void* pinned(std::int64_t bytes) {
    const std::uint64_t slot = device_.pinned().take(bytes);
    if (slot == 0) throw DeviceError("no pinned host memory is left", false);
    slots_.push_back(slot);
    return reinterpret_cast<void*>(slot);
  }

  void begin_compute() {
    upload_end_.hold(device_.streams().compute);
    if (!pending_) compute_begin_.record(device_.streams().compute);
    pending_ = true;
  }

  CudaDevice& device_;
  InUse in_use_;
  std::set<Address> blocks_;
  std::map<Address, std::int64_t> sizes_;
  std::vector<std::pair<Address, std::int64_t>> released_;
  std::vector<std::uint64_t> slots_;
  std::vector<Copy> copies_;
  std::vector<std::shared_ptr<Kernel>> kernels_;
  Event upload_begin_, upload_end_, compute_begin_, compute_end_, download_begin_, download_end_;
  bool uploading_ = false, pending_ = false;
};

std::unique_ptr<Job> CudaDevice::job() { return std::make_unique<CudaJob>(*this); }

}  // namespace

std::shared_ptr<Device> open_device(const DeviceOptions& options) { return std::make_shared<CudaDevice>(options); }

std::vector<DeviceInfo> list_devices() {
  int count = 0;
  driver().check(driver().device_count(&count), "counting devices");
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < count; ++index) {
    CUdevice device = 0;
    driver().check(driver().device_get(&device, index), "device");
    devices.push_back(describe_device(device));
    devices.back().compiler = compiler_version();
  }
  if (devices.empty()) throw DeviceError("the driver finds no CUDA device", false);
  return devices;
}

}  // namespace imgpipe::cuda

#else

namespace imgpipe::cuda {

std::shared_ptr<Device> open_device(const DeviceOptions&) {
  throw DeviceError("this imgpipe was built without CUDA (no toolkit was found when it was configured)", false);
}
std::vector<DeviceInfo> list_devices() {
  throw DeviceError("this imgpipe was built without CUDA (no toolkit was found when it was configured)", false);
}

}  // namespace imgpipe::cuda

#endif
