// Runs a Plan on images in host memory. Three executors give the same bytes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"

namespace imgpipe {

/// Samples that a rounding step or the output could not hold.
struct Counts {
  std::uint64_t clipped = 0;
  std::uint64_t nans = 0;
  Counts& operator+=(const Counts& other);
};

struct RunResult {
  std::vector<Image> images;                 ///< one for each of the graph's results
  std::vector<std::vector<double>> reports;  ///< scalars of each of the graph's reports
  Counts counts;
  double upload_seconds = 0, compute_seconds = 0, download_seconds = 0;
  std::vector<std::string> notes;  ///< "out of device memory: this file ran on the CPU"
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::string name() const = 0;
  /// `inputs[k]` is the image of InputOp k. May be called from several threads at once.
  /// Throws DeviceError and std::bad_alloc.
  virtual RunResult run(const Plan& plan, std::span<const Image* const> inputs) = 0;
  /// What the planner should plan for.
  virtual Machine machine() const = 0;
};

/// Whole image, operation by operation: no tiles, no fusion, no threads. The definition of every other executor.
std::unique_ptr<Executor> make_simple_executor();
/// Tiles in parallel over the cores, groups fused in cache.
std::unique_ptr<Executor> make_cpu_executor();

}  // namespace imgpipe
