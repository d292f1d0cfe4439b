// Timings of plans, and of what the machine can do at best.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/exec/cuda/executor.h"

namespace imgpipe::bench {

/// Of repeated timings, in seconds.
struct Spread {
  double median = 0, quartile1 = 0, quartile3 = 0;
  int runs = 0;
};
Spread spread_of(std::vector<double> seconds);

/// A plan and images of random samples, one for each of its inputs.
struct Trial {
  Plan plan;
  std::vector<Image> images;
  std::vector<const Image*> inputs() const;
  double bytes_in() const;   ///< that must be read once
  double bytes_out() const;  ///< that must be written once
};
Trial make_trial(Graph graph, const Machine& machine);

/// From memory to memory with so many threads. Ends early, with at least 3 runs, once it has taken 2 seconds.
Spread time_cpu(const Trial& trial, int threads, int repeats);

/// Per image of a long series with several under way: upload, compute, download. Timed in `repeats` series.
Spread time_host_to_host(Executor& executor, const Trial& trial, int repeats);

/// Bytes a second, measured. A copy counts what is read and what is written.
struct DeviceRates {
  double copy = 0, upload = 0, download = 0;
};
DeviceRates device_rates(cuda::Device& device);
/// The same of host memory with so many threads.
double host_copy_rate(int threads);

}  // namespace imgpipe::bench
