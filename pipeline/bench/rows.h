// What `imgpipe bench` found, for people (a table) and for programs (JSON, CSV).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/bench/measure.h"

namespace imgpipe::bench {

/// Where the images lie before and after a run.
enum class Place {
  device,        ///< device memory
  host_to_host,  ///< host memory, by way of the device, with several images under way
  host           ///< host memory, computed by the CPU
};

/// One chain on one image. Times are in seconds and of one image.
struct Row {
  std::string chain;
  Place place = Place::host;
  int cpu_threads = 0;    ///< of the CPU's rows
  int block_threads = 0;  ///< of the GPU's rows
  ImageDesc image;
  Spread time;
  double floor = 0;      ///< what must be read and written once, at the measured speed of memory or of the link
  double bytes = 0;      ///< that the plan moves
  double predicted = 0;  ///< by the plan
  std::size_t groups = 0;
  std::vector<cuda::Residency> kernels;  ///< of the rows in device memory
};

/// From which size on the GPU is the faster one, of the sizes that were timed.
struct Crossover {
  std::string chain;
  Place place;
  bool volume = false;
  std::optional<std::int64_t> side;  ///< nothing when it is not the faster one at the largest size
  std::int64_t largest = 0;
};

struct Gpu {
  cuda::DeviceInfo info;
  DeviceRates rates;
};
struct Hardware {
  std::optional<Gpu> gpu;
  int cpu_threads = 1;
  double copy_rate = 0, copy_rate_alone = 0;  ///< of host memory with all threads and with one; 0: not measured
};

/// "gpu", "gpu, host to host", "cpu, 2 threads".
std::string where(const Row& row);
/// Share of a multiprocessor's threads that a kernel's resident blocks fill.
double occupancy(const cuda::Residency& kernel, const cuda::DeviceInfo& device);
/// The crossovers of one chain's rows over several sizes.
std::vector<Crossover> crossovers(const std::string& chain, const std::vector<Row>& rows);
/// "chain2d_u16: from 1024 x 1024 on the GPU pays, host to host".
std::string words(const Crossover& crossover);

std::string table_head();
std::string table_line(const Row& row, const Hardware& machine);
std::string csv(const std::vector<Row>& rows, const Hardware& machine);
std::string json(const std::vector<Row>& rows, const std::vector<Crossover>& crossovers, const Hardware& machine);

/// Time against size, a panel for each chain.
std::string size_plot(const std::vector<Row>& rows, const std::vector<Crossover>& crossovers, const Hardware& machine);

}  // namespace imgpipe::bench
