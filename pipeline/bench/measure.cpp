#include "pipeline/bench/measure.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>

#include "pipeline/bench/workloads.h"

namespace imgpipe::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Images under way together: one uploads, one computes, one downloads, and one is being copied on the host.
constexpr int in_flight = 4;

void run_series(Executor& executor, const Trial& trial, int images) {
  const std::vector<const Image*> inputs = trial.inputs();
  std::atomic<int> next{0};
  std::vector<std::future<void>> workers;
  for (int k = 0; k < in_flight; ++k)
    workers.push_back(std::async(std::launch::async, [&] {
      while (next++ < images) {
        const RunResult result = executor.run(trial.plan, inputs);
        if (!result.notes.empty()) throw DeviceError(result.notes[0], false);
      }
    }));
  for (auto& worker : workers) worker.wait();
  for (auto& worker : workers) worker.get();
}

}  // namespace

Spread spread_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double fraction) {  // linear between neighbours
    const double place = fraction * static_cast<double>(seconds.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, seconds.size() - 1);
    return seconds[below] + (place - static_cast<double>(below)) * (seconds[above] - seconds[below]);
  };
  return {at(0.5), at(0.25), at(0.75), static_cast<int>(seconds.size())};
}

std::vector<const Image*> Trial::inputs() const {
  std::vector<const Image*> pointers;
  for (const Image& image : images) pointers.push_back(&image);
  return pointers;
}

double Trial::bytes_in() const {
  double bytes = 0;
  for (std::size_t n = 0; n < plan.graph.nodes.size(); ++n)
    if (std::holds_alternative<InputOp>(plan.graph.nodes[n].op) && plan.live[n])
      bytes += static_cast<double>(plan.graph.nodes[n].value.desc.bytes());
  return bytes;
}

double Trial::bytes_out() const {
  double bytes = 0;
  for (const auto& result : plan.graph.results) {
    const ValueInfo& value = plan.graph.nodes[result.value].value;
    bytes += static_cast<double>(value.desc.samples()) * static_cast<double>(size_of(value.storage()));
  }
  return bytes;
}

Trial make_trial(Graph graph, const Machine& machine) {
  Trial trial{make_plan(std::move(graph), machine), {}};
  for (const GraphNode& node : trial.plan.graph.nodes) {
    const auto* input = std::get_if<InputOp>(&node.op);
    if (!input) continue;
    const auto index = static_cast<std::size_t>(input->index);
    if (trial.images.size() <= index) trial.images.resize(index + 1);
    trial.images[index] = random_pixels(node.value.desc, index + 7);
  }
  return trial;
}

Spread time_cpu(const Trial& trial, int threads, int repeats) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  const auto executor = make_cpu_executor();
  const std::vector<const Image*> inputs = trial.inputs();
  executor->run(trial.plan, inputs);
  std::vector<double> seconds;
  const auto start = Clock::now();
  for (int k = 0; k < repeats && (k < 3 || seconds_since(start) < 2); ++k) {
    const auto begin = Clock::now();
    executor->run(trial.plan, inputs);
    seconds.push_back(seconds_since(begin));
  }
  return spread_of(std::move(seconds));
}

Spread time_host_to_host(Executor& executor, const Trial& trial, int repeats) {
  run_series(executor, trial, 2 * in_flight);
  const auto start = Clock::now();
  run_series(executor, trial, in_flight);
  // A series is long against the time in which it fills and drains, and takes about a fifth of a second.
  const int images = std::clamp(static_cast<int>(0.2 * in_flight / seconds_since(start)), 5 * in_flight, 2000);
  std::vector<double> seconds;
  for (int k = 0; k < repeats; ++k) {
    const auto begin = Clock::now();
    run_series(executor, trial, images);
    seconds.push_back(seconds_since(begin) / images);
  }
  return spread_of(std::move(seconds));
}

DeviceRates device_rates(cuda::Device& device) {
  const std::int64_t bytes = std::min<std::int64_t>(std::int64_t(1) << 30, device.info().free_memory / 8);
  Image host(ImageDesc{DType::u8, {bytes, 1, 1}});
  std::memset(host.data(), 0, static_cast<std::size_t>(bytes));
  DeviceRates rates;
  std::vector<double> copies;
  for (int k = 0; k < 5; ++k) {
    const auto job = device.job();
    const cuda::Address from = job->allocate(bytes), to = job->allocate(bytes);
    job->upload(from, host.data(), bytes);
    const double seconds = job->time([&] { job->copy(to, from, bytes); });
    job->download(host.data(), to, bytes);
    job->wait();
    copies.push_back(seconds);
    rates.upload = std::max(rates.upload, static_cast<double>(bytes) / job->upload_seconds());
    rates.download = std::max(rates.download, static_cast<double>(bytes) / job->download_seconds());
  }
  rates.copy = 2 * static_cast<double>(bytes) / spread_of(copies).median;
  return rates;
}

double host_copy_rate(int threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  constexpr std::int64_t bytes = std::int64_t(256) << 20, chunk = 1 << 20;
  Image from(ImageDesc{DType::u8, {bytes, 1, 1}}), to(from.desc());
  std::memset(from.data(), 1, static_cast<std::size_t>(bytes));
  std::memset(to.data(), 1, static_cast<std::size_t>(bytes));
  const auto copy = [&](const tbb::blocked_range<std::int64_t>& part) {
    std::memcpy(to.data() + part.begin(), from.data() + part.begin(), static_cast<std::size_t>(part.size()));
  };
  double least = 1e9;
  for (int k = 0; k < 5; ++k) {
    const auto start = Clock::now();
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, bytes, chunk), copy, tbb::simple_partitioner());
    least = std::min(least, seconds_since(start));
  }
  return 2.0 * bytes / least;
}

}  // namespace imgpipe::bench
