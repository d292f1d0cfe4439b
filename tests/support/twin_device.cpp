#include "tests/support/twin_device.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace imgpipe::test {
namespace {

using namespace cuda;
namespace fs = std::filesystem;

using Entry = void (*)(const void* arguments, long long index, long long count, char* fast);

struct TwinKernel : Kernel {
  Entry entry = nullptr;
  int threads = 0;
  std::int64_t shared_bytes = 0;
};

/// The loader knows libraries by path: no two twins may share one.
fs::path fresh_folder() {
  static std::atomic<int> serial{0};
  return fs::temp_directory_path() / fmt::format("imgpipe_twin_{}_{}", getpid(), serial++);
}

class TwinDevice : public Device {
 public:
  explicit TwinDevice(std::int64_t limit) : limit(limit), folder_(fresh_folder()) { fs::create_directories(folder_); }
  ~TwinDevice() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  DeviceInfo info() const override {
    DeviceInfo info;
    info.name = "host twin";
    info.multiprocessors = 2;
    info.l2 = 1 << 16;
    return info;
  }
  CopyCounts copies() const override { return counts; }
  Residency residency(const Kernel& kernel) const override {
    const auto& twin = static_cast<const TwinKernel&>(kernel);
    Residency residency;
    residency.threads = twin.threads;
    residency.shared_bytes = twin.shared_bytes;
    return residency;
  }
  std::unique_ptr<Job> job() override;

  std::shared_ptr<Kernel> kernel(const KernelSource& source) override {
    const std::lock_guard lock(mutex_);
    if (!entries_.count(source.name)) build({source});
    auto kernel = std::make_shared<TwinKernel>();
    kernel->entry = entries_.at(source.name);
    kernel->threads = source.threads;
    kernel->shared_bytes = source.shared_bytes;
    return kernel;
  }

  void precompile(const std::vector<KernelSource>& sources) {
    constexpr std::size_t batch = 24;
    std::vector<KernelSource> fresh;
    for (const KernelSource& s : sources)
      if (!entries_.count(s.name) &&
          std::none_of(fresh.begin(), fresh.end(), [&](auto& f) { return f.name == s.name; }))
        fresh.push_back(s);
    std::vector<std::vector<KernelSource>> batches;
    for (std::size_t i = 0; i < fresh.size(); i += batch)
      batches.emplace_back(fresh.begin() + i, fresh.begin() + std::min(fresh.size(), i + batch));
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    const auto work = [&] {
      try {
        for (std::size_t i; (i = next++) < batches.size();) build(batches[i]);
      } catch (...) {
        const std::lock_guard lock(entries_mutex_);
        failure = std::current_exception();
      }
    };
    std::vector<std::thread> threads;
    for (unsigned k = 0; k < std::max(1u, std::thread::hardware_concurrency()); ++k) threads.emplace_back(work);
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
  }

  CopyCounts counts;
  std::int64_t limit, allocated = 0;

 private:
  void build(const std::vector<KernelSource>& sources) {
    const std::string stem = (folder_ / fmt::format("kernels_{}", serial_++)).string();
    std::ofstream out(stem + ".cpp");
    for (const KernelSource& s : sources) out << s.text << "\n";
    out.close();
    const std::string command = fmt::format(
        "{} -std=c++20 -O1 -fPIC -shared -w -ffp-contract=off -fno-math-errno -mfma -I{} {}.cpp -o {}.so 2> {}.log",
        IMGPIPE_CXX, IMGPIPE_SOURCE_DIR, stem, stem, stem);
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(stem + ".log");
      std::string text((std::istreambuf_iterator<char>(log)), {});
      throw DeviceError("the host compiler refused a generated kernel:\n" + text.substr(0, 4000) + sources[0].text,
                        false);
    }
    void* library = dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw DeviceError(dlerror(), false);
    const std::lock_guard lock(entries_mutex_);
    for (const KernelSource& s : sources) entries_[s.name] = reinterpret_cast<Entry>(dlsym(library, s.name.c_str()));
  }

  fs::path folder_;
  std::atomic<int> serial_{0};
  std::mutex mutex_, entries_mutex_;
  std::map<std::string, Entry> entries_;
};

class TwinJob : public Job {
 public:
  explicit TwinJob(TwinDevice& device) : device_(device) {}
  ~TwinJob() override {
    for (auto& [address, bytes] : blocks_) free_block(address, bytes);
  }

  Address allocate(std::int64_t bytes) override {
    if (device_.allocated + bytes > device_.limit) throw OutOfDeviceMemory("out of device memory");
    void* memory = std::aligned_alloc(256, static_cast<std::size_t>((bytes + 255) / 256 * 256));
    std::memset(memory, 0xcb, static_cast<std::size_t>(bytes));  // nothing may count on zeros
    device_.allocated += bytes;
    const auto address = reinterpret_cast<Address>(memory);
    blocks_[address] = bytes;
    return address;
  }
  void release(Address address) override {
    const auto block = blocks_.find(address);
    if (block == blocks_.end()) return;
    free_block(block->first, block->second);
    blocks_.erase(block);
  }
  void upload(Address to, const void* from, std::int64_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to), from, static_cast<std::size_t>(bytes));
    ++device_.counts.uploads;
    device_.counts.bytes_up += bytes;
  }
  void fill(Address to, unsigned char value, std::int64_t bytes) override {
    std::memset(reinterpret_cast<void*>(to), value, static_cast<std::size_t>(bytes));
  }
  void copy(Address to, Address from, std::int64_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), static_cast<std::size_t>(bytes));
  }
  void launch(const std::shared_ptr<Kernel>& kernel, std::int64_t blocks,
              std::span<const std::byte> arguments) override {
    const auto& twin = static_cast<const TwinKernel&>(*kernel);
    std::vector<char> memory(static_cast<std::size_t>(twin.shared_bytes) + 16 + 64);
    char* fast = memory.data() + (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) % 16;
    std::vector<std::byte> aligned(arguments.size() + 16);
    std::byte* a = aligned.data() + (16 - reinterpret_cast<std::uintptr_t>(aligned.data()) % 16) % 16;
    std::memcpy(a, arguments.data(), arguments.size());
    for (std::int64_t b = 0; b < blocks; ++b) {
      std::memset(fast, 0xff, static_cast<std::size_t>(twin.shared_bytes));
      twin.entry(a, b, blocks, fast);
    }
  }
  void download(void* to, Address from, std::int64_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(from), static_cast<std::size_t>(bytes));
    ++device_.counts.downloads;
    device_.counts.bytes_down += bytes;
  }
  void wait() override {}
  double time(const std::function<void()>& work) override {
    work();
    return 0;
  }
  double upload_seconds() const override { return 0; }
  double compute_seconds() const override { return 0; }
  double download_seconds() const override { return 0; }

 private:
  void free_block(Address address, std::int64_t bytes) {
    std::free(reinterpret_cast<void*>(address));
    device_.allocated -= bytes;
  }
  TwinDevice& device_;
  std::map<Address, std::int64_t> blocks_;
};

std::unique_ptr<Job> TwinDevice::job() { return std::make_unique<TwinJob>(*this); }

}  // namespace

std::shared_ptr<cuda::Device> make_twin_device(std::int64_t memory_limit) {
  return std::make_shared<TwinDevice>(memory_limit);
}

void precompile(cuda::Device& twin, const std::vector<cuda::KernelSource>& sources) {
  static_cast<TwinDevice&>(twin).precompile(sources);
}

}  // namespace imgpipe::test
