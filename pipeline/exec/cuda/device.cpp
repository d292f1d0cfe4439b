#include "pipeline/exec/cuda/device.h"

#ifdef IMGPIPE_HAS_CUDA

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "pipeline/exec/cuda/compiler.h"
#include "pipeline/exec/cuda/driver.h"
#include "pipeline/exec/cuda/job_table.h"
#include "pipeline/exec/cuda/memory.h"

namespace imgpipe::cuda {
namespace {

/// Copies with as many cores as a large copy can use. Isolated: a thread that waits for the last chunk must not take
/// up another image meanwhile.
void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  constexpr std::int64_t chunk = 1 << 20;
  if (bytes < 8 * chunk) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  const auto copy = [&](const tbb::blocked_range<std::int64_t>& range) {
    const std::int64_t begin = range.begin() * chunk, end = std::min(bytes, range.end() * chunk);
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<std::size_t>(end - begin));
  };
  const tbb::blocked_range<std::int64_t> chunks(0, (bytes + chunk - 1) / chunk);
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(chunks, copy); });
}

/// Host memory that the device can read as it is.
bool is_pinned(const void* memory) {
  unsigned type = 0;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* results[] = {&type};
  driver().check(driver().pointer_attributes(1, wanted, results, reinterpret_cast<CUdeviceptr>(memory)),
                 "asking for a pointer's memory");
  return type == CU_MEMORYTYPE_HOST;
}

class LoadedKernel : public Kernel {
 public:
  LoadedKernel(const KernelSource& source, const std::string& cubin)
      : module_(cubin), function(module_.function(source.name)), threads(source.threads), shared(source.shared_bytes) {
    if (shared > 48 * 1024)
      driver().check(
          driver().function_set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared)),
          "shared memory of a kernel");
  }

 private:
  Module module_;

 public:
  const CUfunction function;
  const int threads;
  const std::int64_t shared;
};

/// Code of a later CUDA generation than the driver's does not load: better said at once than at the first kernel.
void check_versions(const DeviceInfo& info) {
  if (std::stoi(info.compiler) > std::stoi(info.driver))
    throw DeviceError(fmt::format("the driver supports CUDA {}, too old for the run-time compiler NVRTC {}: update the "
                                  "driver, or install the NVRTC of CUDA {}",
                                  info.driver, info.compiler, std::stoi(info.driver)),
                      false);
}

/// "512M" -> bytes.
std::int64_t parse_bytes(const std::string& text) {
  std::size_t used = 0;
  double number = 0;
  try {
    number = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(used);
  const double scale = unit.empty() ? 1 : unit == "K" ? 0x1p10 : unit == "M" ? 0x1p20 : unit == "G" ? 0x1p30 : 0;
  const double bytes = number * scale;
  if (!(bytes >= 1 && bytes < 0x1p62))
    throw DeviceError(fmt::format("IMGPIPE_DEVICE_MEMORY: must be bytes, or a number with K, M or G, got {}", text),
                      false);
  return static_cast<std::int64_t>(bytes);
}

std::optional<std::int64_t> memory_limit(const DeviceOptions& options) {
  if (options.memory_limit) return options.memory_limit;
  const char* text = std::getenv("IMGPIPE_DEVICE_MEMORY");
  if (!text || !*text) return std::nullopt;
  return parse_bytes(text);
}

std::uint64_t allocate_device(std::int64_t bytes) {
  CUdeviceptr block = 0;
  const CUresult result = driver().allocate(&block, static_cast<std::size_t>(bytes));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return 0;
  driver().check(result, "device memory");
  return block;
}

std::uint64_t allocate_pinned(std::int64_t bytes) {
  void* block = nullptr;
  const CUresult result = driver().host_allocate(&block, static_cast<std::size_t>(bytes), CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return 0;
  driver().check(result, "pinned memory");
  return reinterpret_cast<std::uint64_t>(block);
}

class CudaDevice : public Device, public std::enable_shared_from_this<CudaDevice> {
 public:
  explicit CudaDevice(const DeviceOptions& options) : CudaDevice(device_at(options.index), memory_limit(options)) {}
  CudaDevice(CUdevice device, std::optional<std::int64_t> limit)
      : info_(describe_device(device)), limit_(limit.value_or(info_.memory)), context_(device) {
    check_versions(info_);
    architecture_ = architecture_for(info_.major, info_.minor);
    use();
    streams_.emplace();
    memory_.emplace(
        allocate_device, [](std::uint64_t block) { driver().free(block); }, limit, std::nullopt);
    pinned_.emplace(
        allocate_pinned, [](std::uint64_t block) { driver().host_free(reinterpret_cast<void*>(block)); }, std::nullopt,
        std::int64_t(4) << 30);
  }
  ~CudaDevice() override {
    try {
      use();
    } catch (const DeviceError&) {  // a lost context: the driver has let go of everything
    }
  }

  /// Every thread that talks to the device calls this first.
  void use() const { context_.use(); }

  DeviceInfo info() const override {
    use();
    DeviceInfo info = info_;
    std::size_t free = 0, total = 0;
    driver().check(driver().memory_info(&free, &total), "device memory");
    info.free_memory = static_cast<std::int64_t>(free);
    return info;
  }

  std::shared_ptr<Kernel> kernel(const KernelSource& source) override {
    const std::string key = source.name + "\n" + source.text;
    std::promise<std::shared_ptr<Kernel>> promise;
    std::unique_lock lock(kernels_mutex_);
    const auto [known, mine] = kernels_.try_emplace(key);
    if (mine) known->second = promise.get_future().share();
    const auto future = known->second;
    lock.unlock();
    if (mine) build(source, key, promise);
    return future.get();
  }

  Residency residency(const Kernel& kernel) const override {
    use();
    const auto& loaded = static_cast<const LoadedKernel&>(kernel);
    Residency r;
    r.threads = loaded.threads;
    r.shared_bytes = loaded.shared;
    driver().check(
        driver().occupancy(&r.blocks, loaded.function, loaded.threads, static_cast<std::size_t>(loaded.shared)),
        "occupancy");
    driver().check(driver().function_get(&r.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, loaded.function), "registers");
    int local = 0;
    driver().check(driver().function_get(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, loaded.function), "local memory");
    r.spilled_bytes = local;
    return r;
  }

  std::unique_ptr<Job> job() override;
  CopyCounts copies() const override { return {uploads, downloads, bytes_up, bytes_down}; }

  /// Memory from the pool; waits for other jobs to end when there is none.
  Address allocate(std::int64_t bytes) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (bytes <= limit_) {
      const std::uint64_t seen = jobs.ended();
      if (const std::uint64_t block = memory_->take(bytes)) return block;
      if (!jobs.wait_for_end(seen, deadline)) break;
    }
    throw OutOfDeviceMemory(fmt::format("out of device memory ({:.1f} MiB more were needed)", bytes / 1048576.0));
  }

  struct Streams {
    Stream upload, compute, download;
  };
  const Streams& streams() const { return *streams_; }
  BlockPool& memory() { return *memory_; }
  BlockPool& pinned() { return *pinned_; }
  JobTable jobs;
  std::mutex enqueue;
  std::atomic<std::uint64_t> uploads{0}, downloads{0}, bytes_up{0}, bytes_down{0};

 private:
  void build(const KernelSource& source, const std::string& key, std::promise<std::shared_ptr<Kernel>>& promise) {
    try {
      use();
      promise.set_value(std::make_shared<LoadedKernel>(source, cubin_of(source, architecture_)));
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(kernels_mutex_);
      kernels_.erase(key);
    }
  }

  DeviceInfo info_;
  std::int64_t limit_;
  std::string architecture_;
  Context context_;
  std::optional<Streams> streams_;
  std::optional<BlockPool> memory_, pinned_;
  std::mutex kernels_mutex_;
  std::map<std::string, std::shared_future<std::shared_ptr<Kernel>>> kernels_;
};

/// Keeps a stream from going on until everything that is to be timed stands in it: else short kernels would be timed
/// with the host's pauses between them. Opens by itself, since work may need a resting device (new code or memory).
class Gate {
 public:
  explicit Gate(const Stream& stream) {
    auto copy = std::make_unique<std::shared_future<void>>(opened_);
    driver().check(driver().host_function(stream.get(), &Gate::block, copy.get()), "timing");
    copy.release();
  }
  void open() { open_.set_value(); }

 private:
  static void CUDA_CB block(void* opened) {
    const std::unique_ptr<std::shared_future<void>> own(static_cast<std::shared_future<void>*>(opened));
    own->wait_for(std::chrono::milliseconds(50));
  }
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

class CudaJob : public Job {
 public:
  explicit CudaJob(std::shared_ptr<CudaDevice> device) : device_(std::move(device)) { device_->jobs.begin(thread_); }

  ~CudaJob() override {
    try {
      finish();
    } catch (const DeviceError&) {  // told to whoever waited
    }
    for (const auto& [block, size] : blocks_) device_->memory().give(block);
    for (const std::uint64_t slot : slots_) device_->pinned().give(slot);
    device_->jobs.end(thread_);
  }

  Address allocate(std::int64_t bytes) override {
    device_->use();
    if (const Address block = reuse(bytes)) return block;
    Address block = released_.empty() ? 0 : device_->memory().take(bytes);
    if (block == 0) {
      give_released();
      block = device_->allocate(bytes);
    }
    blocks_[block] = bytes;
    return block;
  }

  void release(Address address) override {
    if (!released_.insert(address).second || !blocks_.count(address))
      throw std::logic_error("device memory was released twice");
  }

  /// Pinned memory is read where it lies: it has to stay until `wait`.
  void upload(Address to, const void* from, std::int64_t bytes) override {
    device_->use();
    if (!is_pinned(from)) from = stage(from, bytes);
    const Stream& stream = device_->streams().upload;
    const std::lock_guard lock(device_->enqueue);
    end_compute();
    compute_end_.hold(stream);
    download_end_.hold(stream);
    begin(upload_begin_, stream);
    driver().check(driver().upload(to, from, static_cast<std::size_t>(bytes), stream.get()), "upload");
    upload_end_.record(stream);
    ++device_->uploads;
    device_->bytes_up += static_cast<std::uint64_t>(bytes);
  }

  void fill(Address to, unsigned char value, std::int64_t bytes) override {
    const std::lock_guard lock(device_->enqueue);
    const Stream& stream = begin_compute();
    driver().check(driver().fill(to, value, static_cast<std::size_t>(bytes), stream.get()), "fill");
  }

  void copy(Address to, Address from, std::int64_t bytes) override {
    const std::lock_guard lock(device_->enqueue);
    const Stream& stream = begin_compute();
    driver().check(driver().copy(to, from, static_cast<std::size_t>(bytes), stream.get()), "copy");
  }

  void launch(const std::shared_ptr<Kernel>& kernel, std::int64_t blocks,
              std::span<const std::byte> arguments) override {
    auto& loaded = static_cast<LoadedKernel&>(*kernel);
    alignas(16) std::byte copy[32752];  // the driver copies parameters as it queues the launch
    if (arguments.size() > sizeof copy) throw DeviceError("the parameters of a kernel pass 32 KiB", false);
    std::memcpy(copy, arguments.data(), arguments.size());
    void* parameters[] = {copy};
    const auto grid = static_cast<unsigned>(std::min<std::int64_t>(blocks, std::numeric_limits<std::int32_t>::max()));
    kernels_.insert(kernel);
    const std::lock_guard lock(device_->enqueue);
    const Stream& stream = begin_compute();
    driver().check(driver().launch(loaded.function, grid, 1, 1, static_cast<unsigned>(loaded.threads), 1, 1,
                                   static_cast<unsigned>(loaded.shared), stream.get(), parameters, nullptr),
                   "launch");
  }

  void download(void* to, Address from, std::int64_t bytes) override {
    device_->use();
    const std::uint64_t slot = device_->pinned().take(bytes);
    if (slot) slots_.push_back(slot);
    void* target = slot ? reinterpret_cast<void*>(slot) : to;
    const Stream& stream = device_->streams().download;
    const std::lock_guard lock(device_->enqueue);
    end_compute();
    upload_end_.hold(stream);
    compute_end_.hold(stream);
    begin(download_begin_, stream);
    driver().check(driver().download(target, from, static_cast<std::size_t>(bytes), stream.get()), "download");
    download_end_.record(stream);
    if (slot) copies_.push_back({to, target, bytes});
    ++device_->downloads;
    device_->bytes_down += static_cast<std::uint64_t>(bytes);
  }

  void wait() override {
    finish();
    for (const Copy& copy : copies_) copy_bytes(copy.to, copy.slot, copy.bytes);
    copies_.clear();
  }

  double time(const std::function<void()>& work) override {
    const Stream& stream = device_->streams().compute;
    Event begin, end;
    std::unique_lock lock(device_->enqueue);
    begin_compute();
    Gate gate(stream);
    begin.record(stream);
    lock.unlock();
    work();
    lock.lock();
    end.record(stream);
    lock.unlock();
    gate.open();
    end.wait();
    return end.seconds_since(begin);
  }

  double upload_seconds() const override { return upload_end_.seconds_since(upload_begin_); }
  double compute_seconds() const override { return compute_end_.seconds_since(compute_begin_); }
  double download_seconds() const override { return download_end_.seconds_since(download_begin_); }

 private:
  struct Copy {
    void* to;
    const void* slot;
    std::int64_t bytes;
  };

  /// The smallest released block that is not much too large, or 0.
  Address reuse(std::int64_t bytes) {
    Address best = 0;
    for (const Address block : released_) {
      const std::int64_t size = blocks_.at(block);
      if (size >= bytes && size <= 2 * bytes + 65536 && (best == 0 || size < blocks_.at(best))) best = block;
    }
    released_.erase(best);
    return best;
  }

  void give_released() {
    if (released_.empty()) return;
    finish();
    for (const Address block : released_) {
      device_->memory().give(block);
      blocks_.erase(block);
    }
    released_.clear();
  }

  /// A pinned copy; the memory itself when no more can be pinned, which the driver then stages.
  const void* stage(const void* from, std::int64_t bytes) {
    const std::uint64_t slot = device_->pinned().take(bytes);
    if (slot == 0) return from;
    slots_.push_back(slot);
    copy_bytes(reinterpret_cast<void*>(slot), from, bytes);
    return reinterpret_cast<void*>(slot);
  }

  static void begin(Event& event, const Stream& stream) {
    if (!event.recorded()) event.record(stream);
  }

  /// Launches follow the job's own copies only.
  const Stream& begin_compute() {
    device_->use();
    const Stream& stream = device_->streams().compute;
    upload_end_.hold(stream);
    download_end_.hold(stream);
    begin(compute_begin_, stream);
    computing_ = true;
    return stream;
  }

  /// Marks the end of the launches so far, before those of other jobs follow.
  void end_compute() {
    if (computing_) compute_end_.record(device_->streams().compute);
    computing_ = false;
  }

  void finish() {
    device_->use();
    {
      const std::lock_guard lock(device_->enqueue);
      end_compute();
    }
    upload_end_.wait();
    compute_end_.wait();
    download_end_.wait();
  }

  const std::shared_ptr<CudaDevice> device_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::map<Address, std::int64_t> blocks_;
  std::set<Address> released_;
  std::vector<std::uint64_t> slots_;
  std::vector<Copy> copies_;
  std::set<std::shared_ptr<Kernel>> kernels_;
  Event upload_begin_, upload_end_, compute_begin_, compute_end_, download_begin_, download_end_;
  bool computing_ = false;
};

std::unique_ptr<Job> CudaDevice::job() {
  use();
  return std::make_unique<CudaJob>(shared_from_this());
}

}  // namespace

std::shared_ptr<Device> open_device(const DeviceOptions& options) { return std::make_shared<CudaDevice>(options); }

std::vector<DeviceInfo> list_devices() {
  int count = 0;
  driver().check(driver().device_count(&count), "counting devices");
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < std::max(1, count); ++index) devices.push_back(describe_device(device_at(index)));
  return devices;
}

}  // namespace imgpipe::cuda

#else

namespace imgpipe::cuda {

std::shared_ptr<Device> open_device(const DeviceOptions&) {
  throw DeviceError("this imgpipe was built without CUDA (configure with -DIMGPIPE_CUDA=ON and a CUDA toolkit)", false);
}
std::vector<DeviceInfo> list_devices() {
  throw DeviceError("this imgpipe was built without CUDA (configure with -DIMGPIPE_CUDA=ON and a CUDA toolkit)", false);
}

}  // namespace imgpipe::cuda

#endif
