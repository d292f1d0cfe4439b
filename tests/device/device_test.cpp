// The real device: copies, memory, order and threads, with a hand-written kernel that adds one.
#include "pipeline/exec/cuda/device.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

namespace imgpipe::test {
namespace {

using namespace cuda;
using Numbers = std::vector<std::uint32_t>;
constexpr std::int64_t mebibyte = 1 << 20;

struct alignas(16) AddOneArguments {
  Address data;
  long long n;
};

KernelSource add_one_source() {
  KernelSource source{};
  source.name = "add_one";
  source.text = R"(
struct alignas(16) Args { unsigned* data; long long n; };
extern "C" __global__ void __launch_bounds__(256) add_one(const __grid_constant__ Args a) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < a.n; i += gridDim.x * 256ll) a.data[i] += 1;
}
)";
  source.threads = 256;
  return source;
}

std::int64_t bytes_of(const Numbers& numbers) { return static_cast<std::int64_t>(numbers.size() * sizeof(numbers[0])); }

Numbers counting(std::size_t n, std::uint32_t first = 0) {
  Numbers numbers(n);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

void add_one(Device& device, Job& job, Address data, std::size_t n) {
  const AddOneArguments arguments{data, static_cast<long long>(n)};
  job.launch(device.kernel(add_one_source()), 64, std::as_bytes(std::span(&arguments, 1)));
}

/// Adds one `times` times by way of the device.
Numbers round_trip(Device& device, const Numbers& in, int times = 1) {
  const auto job = device.job();
  const Address data = job->allocate(bytes_of(in));
  job->upload(data, in.data(), bytes_of(in));
  for (int k = 0; k < times; ++k) add_one(device, *job, data, in.size());
  Numbers out(in.size());
  job->download(out.data(), data, bytes_of(in));
  job->wait();
  return out;
}

/// As above, for threads: 1 when the result is wrong or there is none.
int wrong_round_trip(Device& device, const Numbers& in, std::uint32_t times) {
  Numbers expected = in;
  for (std::uint32_t& number : expected) number += times;
  try {
    return round_trip(device, in, static_cast<int>(times)) != expected;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return 1;
  }
}

class RealDevice : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device = open_device();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "1 device test skipped: " << error.what();
    }
  }
  std::shared_ptr<Device> device;
};

TEST_F(RealDevice, TellsItsPlace) {
  const DeviceInfo info = device->info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.major, 5);
  EXPECT_GT(info.multiprocessors, 0);
  EXPECT_GT(info.free_memory, 0);
  EXPECT_LE(info.free_memory, info.memory);
  EXPECT_EQ(list_devices().at(0).name, info.name);
  EXPECT_THROW(open_device({1000, {}}), DeviceError);
  EXPECT_THROW(open_device({-1, {}}), DeviceError);
}

TEST_F(RealDevice, CountsEveryCopyOnce) {
  const CopyCounts before = device->copies();
  const Numbers in = counting(5'000'000);  // past the size at which host copies are split
  EXPECT_EQ(round_trip(*device, in, 3), counting(in.size(), 3));
  const CopyCounts after = device->copies();
  EXPECT_EQ(after.uploads - before.uploads, 1u);
  EXPECT_EQ(after.downloads - before.downloads, 1u);
  EXPECT_EQ(after.bytes_up - before.bytes_up, 20'000'000u);
  EXPECT_EQ(after.bytes_down - before.bytes_down, 20'000'000u);
}

TEST_F(RealDevice, KeepsTheOrderOfAJob) {
  const Numbers in = counting(1'000'000);
  const auto job = device->job();
  const Address data = job->allocate(bytes_of(in));
  Numbers first(in.size()), second(in.size()), third(in.size());
  job->fill(data, 0, bytes_of(in));
  add_one(*device, *job, data, in.size());
  job->upload(data, in.data(), bytes_of(in));  // after the launch
  job->download(first.data(), data, bytes_of(in));
  add_one(*device, *job, data, in.size());  // after the download
  job->download(second.data(), data, bytes_of(in));
  job->upload(data, in.data(), bytes_of(in));
  add_one(*device, *job, data, in.size());
  add_one(*device, *job, data, in.size());
  job->download(third.data(), data, bytes_of(in));
  job->wait();
  EXPECT_EQ(first, in);
  EXPECT_EQ(second, counting(in.size(), 1));
  EXPECT_EQ(third, counting(in.size(), 2));
}

TEST_F(RealDevice, ReusesReleasedMemoryInOrder) {
  const Numbers in = counting(500'000);
  const auto job = device->job();
  std::vector<Numbers> out(6, Numbers(in.size()));
  Address last = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Address data = job->allocate(bytes_of(in));
    EXPECT_TRUE(last == 0 || data == last);
    const Numbers start = counting(in.size(), static_cast<std::uint32_t>(10 * k));
    job->upload(data, start.data(), bytes_of(start));
    add_one(*device, *job, data, in.size());
    job->download(out[k].data(), data, bytes_of(in));
    job->release(data);
    last = data;
  }
  job->wait();
  for (std::size_t k = 0; k < out.size(); ++k)
    EXPECT_EQ(out[k], counting(in.size(), static_cast<std::uint32_t>(10 * k + 1))) << k;
}

TEST_F(RealDevice, MemoryOfAJobLeftInTheMiddleIsNotReusedTooSoon) {
  const Numbers in = counting(1'000'000);
  for (int k = 0; k < 20; ++k) {
    {
      const auto left = device->job();
      const Address data = left->allocate(bytes_of(in));
      left->upload(data, in.data(), bytes_of(in));
      for (int i = 0; i < 5; ++i) add_one(*device, *left, data, in.size());
    }
    ASSERT_EQ(round_trip(*device, in), counting(in.size(), 1));
  }
}

TEST_F(RealDevice, MoreThanTheLimitIsOutOfMemoryAndTheNextJobStartsClean) {
  const auto small = open_device({0, 64 * mebibyte});
  {
    const auto job = small->job();
    EXPECT_THROW(job->allocate(128 * mebibyte), OutOfDeviceMemory);
    job->allocate(40 * mebibyte);
    EXPECT_THROW(job->allocate(40 * mebibyte), OutOfDeviceMemory);
    job->allocate(8 * mebibyte);
  }
  const auto job = small->job();
  EXPECT_NE(job->allocate(56 * mebibyte), 0u);  // cached blocks give way
  EXPECT_THROW(job->allocate(56 * mebibyte), OutOfDeviceMemory);
  EXPECT_EQ(round_trip(*small, counting(1000)), counting(1000, 1));
}

TEST_F(RealDevice, ReleasedMemoryOfAnotherSizeGivesWay) {
  const auto small = open_device({0, 64 * mebibyte});
  const auto job = small->job();
  job->release(job->allocate(40 * mebibyte));
  EXPECT_NE(job->allocate(60 * mebibyte), 0u);
}

TEST_F(RealDevice, ReleasingTwiceIsAnError) {
  const auto job = device->job();
  const Address data = job->allocate(1000);
  job->release(data);
  EXPECT_THROW(job->release(data), std::logic_error);
}

TEST_F(RealDevice, AllOfTheDeviceAndMoreIsOutOfMemory) {
  EXPECT_THROW(device->job()->allocate(2 * device->info().memory), OutOfDeviceMemory);
  EXPECT_EQ(round_trip(*device, counting(1000)), counting(1000, 1));
}

TEST_F(RealDevice, LimitFromTheEnvironment) {
  setenv("IMGPIPE_DEVICE_MEMORY", "32M", 1);
  const auto small = open_device();
  EXPECT_THROW(small->job()->allocate(33 * mebibyte), OutOfDeviceMemory);
  EXPECT_NE(small->job()->allocate(31 * mebibyte), 0u);
  for (const char* wrong : {"32Q", "much", "-1", "M", "1e300G"}) {
    setenv("IMGPIPE_DEVICE_MEMORY", wrong, 1);
    EXPECT_THROW(open_device(), DeviceError) << wrong;
  }
  unsetenv("IMGPIPE_DEVICE_MEMORY");
}

TEST_F(RealDevice, WaitsForTheMemoryOfOtherJobs) {
  const auto small = open_device({0, 64 * mebibyte});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Numbers in = counting(9'000'000, static_cast<std::uint32_t>(t));  // no two fit
      for (int k = 0; k < 4; ++k) wrong += wrong_round_trip(*small, in, 1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(RealDevice, JobsThatWaitForEachOtherDoNotHang) {
  const auto small = open_device({0, 64 * mebibyte});
  std::atomic<int> refused{0};
  std::barrier both(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      const auto job = small->job();
      job->allocate(24 * mebibyte);
      both.arrive_and_wait();
      try {
        job->allocate(32 * mebibyte);
      } catch (const OutOfDeviceMemory&) {
        ++refused;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 1);
}

TEST_F(RealDevice, ManyJobsKeepMemoryFlat) {
  const std::size_t sizes[] = {1000, 30'000, 1'000'000, 2'500'000, 77'777};
  const auto one = [&](int k) {
    const Numbers in = counting(sizes[k % 5]);
    ASSERT_EQ(round_trip(*device, in), counting(in.size(), 1));
  };
  for (int k = 0; k < 10; ++k) one(k);
  const double before = static_cast<double>(device->info().free_memory);
  for (int k = 0; k < 200; ++k) one(k);
  EXPECT_NEAR(static_cast<double>(device->info().free_memory), before, 0.05 * before);
}

TEST_F(RealDevice, EightThreadsGetTheirOwnResults) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 25; ++k) {
        const auto first = static_cast<std::uint32_t>(1000 * t + k);
        const Numbers in = counting(1000 + 40'000 * (k % 4), first);
        wrong += wrong_round_trip(*device, in, 1 + static_cast<std::uint32_t>(k % 3));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(RealDevice, OneTextIsCompiledAndLoadedOnce) {
  std::vector<std::shared_ptr<Kernel>> kernels(8);
  std::vector<std::thread> threads;
  for (auto& kernel : kernels) threads.emplace_back([&] { kernel = device->kernel(add_one_source()); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& kernel : kernels) EXPECT_EQ(kernel, kernels[0]);
}

TEST_F(RealDevice, ABrokenKernelIsAnErrorEveryTime) {
  KernelSource source = add_one_source();
  source.text += "nonsense";
  for (int k = 0; k < 2; ++k) EXPECT_THROW(device->kernel(source), DeviceError);
  EXPECT_EQ(round_trip(*device, counting(1000)), counting(1000, 1));
}

TEST_F(RealDevice, TimesItsWork) {
  const Numbers in = counting(4'000'000);
  const auto job = device->job();
  const Address data = job->allocate(bytes_of(in));
  job->upload(data, in.data(), bytes_of(in));
  const double one = job->time([&] { add_one(*device, *job, data, in.size()); });
  const double many = job->time([&] {
    for (int k = 0; k < 20; ++k) add_one(*device, *job, data, in.size());
  });
  Numbers out(in.size());
  job->download(out.data(), data, bytes_of(in));
  job->wait();
  EXPECT_EQ(out, counting(in.size(), 21));
  EXPECT_GT(one, 0);
  EXPECT_GT(many, one);
  EXPECT_LT(many, 1);
  EXPECT_GT(job->upload_seconds(), 0);
  EXPECT_GT(job->compute_seconds(), 0);
  EXPECT_GT(job->download_seconds(), 0);
}

TEST_F(RealDevice, SaysHowAKernelSitsOnAMultiprocessor) {
  const Residency r = device->residency(*device->kernel(add_one_source()));
  EXPECT_EQ(r.threads, 256);
  EXPECT_GE(r.blocks, 1);
  EXPECT_LE(r.blocks * r.threads, device->info().threads_per_multiprocessor);
  EXPECT_TRUE(r.registers > 0 && r.registers <= 255) << r.registers;
  EXPECT_EQ(r.spilled_bytes, 0);
}

TEST_F(RealDevice, CopiesWithinItsMemoryInOrder) {
  const Numbers in = counting(1 << 20, 5);
  Numbers out(in.size()), expected = in;
  for (std::uint32_t& number : expected) ++number;
  const auto job = device->job();
  const Address a = job->allocate(bytes_of(in)), b = job->allocate(bytes_of(in));
  job->upload(a, in.data(), bytes_of(in));
  add_one(*device, *job, a, in.size());
  job->copy(b, a, bytes_of(in));
  add_one(*device, *job, a, in.size());
  job->download(out.data(), b, bytes_of(in));
  job->wait();
  EXPECT_EQ(out, expected) << "what stood there between the two launches";
}

TEST_F(RealDevice, AJobOutlivesTheHandleOfItsDevice) {
  auto own = open_device();
  const auto job = own->job();
  const Numbers in = counting(1000);
  const Address data = job->allocate(bytes_of(in));
  job->upload(data, in.data(), bytes_of(in));
  own.reset();
  Numbers out(in.size());
  job->download(out.data(), data, bytes_of(in));
  job->wait();
  EXPECT_EQ(out, in);
}

}  // namespace
}  // namespace imgpipe::test
