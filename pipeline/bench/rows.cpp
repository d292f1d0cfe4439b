#include "pipeline/bench/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "pipeline/bench/plot.h"

namespace imgpipe::bench {
namespace {

using Json = nlohmann::ordered_json;

const char* place_name(Place place) {
  return place == Place::device ? "device" : place == Place::host_to_host ? "host to host" : "host";
}

double of_floor(const Row& row) { return row.time.median > 0 ? row.floor / row.time.median : 0; }

double ms(double seconds) { return 1e3 * seconds; }

std::string size_words(std::int64_t side, bool volume) {
  return volume ? fmt::format("{0} x {0} x {0}", side) : fmt::format("{0} x {0}", side);
}

Json kernel_json(const cuda::Residency& kernel, const Hardware& machine) {
  return {{"registers", kernel.registers},
          {"shared_bytes", kernel.shared_bytes},
          {"spilled_bytes", kernel.spilled_bytes},
          {"resident_blocks", kernel.blocks},
          {"occupancy", occupancy(kernel, machine.gpu->info)}};
}

Json row_json(const Row& row, const Hardware& machine) {
  const Extent& e = row.image.extent;
  Json json = {{"workload", row.chain},
               {"backend", row.place == Place::host ? "cpu" : "cuda"},
               {"place", place_name(row.place)},
               {"image", describe(row.image)},
               {"extent", {e.width, e.height, e.depth}},
               {"dtype", name(row.image.dtype)},
               {"channels", row.image.channels},
               {"runs", row.time.runs},
               {"ms", ms(row.time.median)},
               {"ms_quartile1", ms(row.time.quartile1)},
               {"ms_quartile3", ms(row.time.quartile3)},
               {"floor_ms", ms(row.floor)},
               {"of_floor", of_floor(row)},
               {"bytes_moved", row.bytes},
               {"predicted_ms", ms(row.predicted)},
               {"groups", row.groups}};
  if (row.place == Place::host) {
    json["threads"] = row.cpu_threads;
    return json;
  }
  json["block_threads"] = row.block_threads;
  if (row.place != Place::device) return json;
  json["kernels"] = Json::array();
  for (const cuda::Residency& kernel : row.kernels) json["kernels"].push_back(kernel_json(kernel, machine));
  return json;
}

Json machine_json(const Hardware& machine) {
  Json json = {{"cpu", {{"threads", machine.cpu_threads}}}, {"gpu", nullptr}};
  if (machine.copy_rate > 0) {
    json["cpu"]["copy_bytes_per_second"] = machine.copy_rate;
    json["cpu"]["copy_bytes_per_second_one_thread"] = machine.copy_rate_alone;
  }
  if (machine.gpu)
    json["gpu"] = {{"name", machine.gpu->info.name},
                   {"multiprocessors", machine.gpu->info.multiprocessors},
                   {"l2_bytes", machine.gpu->info.l2},
                   {"copy_bytes_per_second", machine.gpu->rates.copy},
                   {"upload_bytes_per_second", machine.gpu->rates.upload},
                   {"download_bytes_per_second", machine.gpu->rates.download}};
  return json;
}

/// "75 % 40 regs" a kernel.
std::string residency_words(const Row& row, const Hardware& machine) {
  std::string text;
  for (const cuda::Residency& kernel : row.kernels)
    text += fmt::format("{}{:.0f} % {} regs{}", text.empty() ? "" : ", ", 100 * occupancy(kernel, machine.gpu->info),
                        kernel.registers,
                        kernel.spilled_bytes > 0 ? fmt::format(" {} B spilled", kernel.spilled_bytes) : "");
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

/// By size, of one place.
std::map<std::int64_t, double> times_of(const std::string& chain, const std::vector<Row>& rows, Place place) {
  std::map<std::int64_t, double> times;
  for (const Row& row : rows)
    if (row.chain == chain && row.place == place) times[row.image.extent.width] = row.time.median;
  return times;
}

Curve curve_of(const std::string& chain, const std::vector<Row>& rows, Place place, const Hardware& machine) {
  Curve curve;
  curve.name = place == Place::host
                   ? fmt::format("CPU, {} thread{}", machine.cpu_threads, machine.cpu_threads == 1 ? "" : "s")
               : place == Place::device ? "GPU, image in device memory"
                                        : "GPU, host to host";
  curve.colour = place == Place::host ? "#b5482a" : "#1f6fb2";
  curve.dashed = place == Place::device;
  for (const auto& [side, seconds] : times_of(chain, rows, place))
    curve.points.emplace_back(static_cast<double>(side), ms(seconds));
  return curve;
}

}  // namespace

std::string where(const Row& row) {
  if (row.place == Place::host)
    return fmt::format("cpu, {} thread{}", row.cpu_threads, row.cpu_threads == 1 ? "" : "s");
  return row.place == Place::device ? "gpu" : "gpu, host to host";
}

double occupancy(const cuda::Residency& kernel, const cuda::DeviceInfo& device) {
  return device.threads_per_multiprocessor > 0
             ? static_cast<double>(kernel.blocks) * kernel.threads / device.threads_per_multiprocessor
             : 0;
}

std::vector<Crossover> crossovers(const std::string& chain, const std::vector<Row>& rows) {
  std::vector<Crossover> found;
  const auto cpu = times_of(chain, rows, Place::host);
  for (const Place place : {Place::host_to_host, Place::device}) {
    const auto gpu = times_of(chain, rows, place);
    Crossover crossover{chain, place};
    for (const Row& row : rows) crossover.volume |= row.chain == chain && row.image.volume;
    bool compared = false;
    for (const auto& [side, seconds] : gpu) {
      const auto other = cpu.find(side);
      if (other == cpu.end()) continue;
      compared = true;
      crossover.largest = side;
      if (seconds >= other->second)
        crossover.side.reset();
      else if (!crossover.side)
        crossover.side = side;
    }
    if (compared) found.push_back(crossover);
  }
  return found;
}

std::string words(const Crossover& c) {
  const char* how = c.place == Place::device ? "with the image in device memory" : "host to host";
  if (!c.side)
    return fmt::format("{}: up to {} the GPU does not pay, {}", c.chain, size_words(c.largest, c.volume), how);
  return fmt::format("{}: from {} on the GPU pays, {}", c.chain, size_words(*c.side, c.volume), how);
}

std::string table_head() {
  return fmt::format("{:<18} {:<17} {:<24} {:>6} {:>11} {:>23} {:>10} {:>8} {:>9} {:>12} {:>6}\n", "workload", "where",
                     "image", "block", "median ms", "quartiles ms", "floor ms", "of floor", "moved MB", "predicted ms",
                     "groups");
}

std::string table_line(const Row& row, const Hardware& machine) {
  const std::string block = row.block_threads > 0 ? std::to_string(row.block_threads) : "";
  const std::string quartiles = fmt::format("{:.4f} to {:.4f}", ms(row.time.quartile1), ms(row.time.quartile3));
  const std::string residency = residency_words(row, machine);
  return fmt::format("{:<18} {:<17} {:<24} {:>6} {:>11.4f} {:>23} {:>10.4f} {:>6.0f} % {:>9.1f} {:>12.4f} {:>6}{}\n",
                     row.chain, where(row), describe(row.image), block, ms(row.time.median), quartiles, ms(row.floor),
                     100 * of_floor(row), row.bytes / 1e6, ms(row.predicted), row.groups,
                     residency.empty() ? "" : "  " + residency);
}

std::string csv(const std::vector<Row>& rows, const Hardware& machine) {
  std::string text =
      "workload,backend,place,threads,block_threads,width,height,depth,dtype,channels,runs,ms,ms_quartile1,"
      "ms_quartile3,floor_ms,of_floor,bytes_moved,predicted_ms,groups,occupancy\n";
  for (const Row& row : rows) {
    const Extent& e = row.image.extent;
    std::string occupancies;
    for (const cuda::Residency& kernel : row.kernels)
      occupancies += fmt::format("{}{:.3f}", occupancies.empty() ? "" : ";", occupancy(kernel, machine.gpu->info));
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.4f},{:.0f},{:.6f},{},{}\n",
                        quoted(row.chain), row.place == Place::host ? "cpu" : "cuda", place_name(row.place),
                        row.place == Place::host ? std::to_string(row.cpu_threads) : "",
                        row.place == Place::host ? "" : std::to_string(row.block_threads), e.width, e.height, e.depth,
                        name(row.image.dtype), row.image.channels, row.time.runs, ms(row.time.median),
                        ms(row.time.quartile1), ms(row.time.quartile3), ms(row.floor), of_floor(row), row.bytes,
                        ms(row.predicted), row.groups, occupancies);
  }
  return text;
}

std::string json(const std::vector<Row>& rows, const std::vector<Crossover>& crossovers, const Hardware& machine) {
  Json json = {{"program", "imgpipe"}, {"version", IMGPIPE_VERSION}, {"machine", machine_json(machine)}};
  json["rows"] = Json::array();
  for (const Row& row : rows) json["rows"].push_back(row_json(row, machine));
  json["crossovers"] = Json::array();
  for (const Crossover& c : crossovers) {
    Json entry = {{"workload", c.chain}, {"place", place_name(c.place)}, {"side", nullptr}, {"largest", c.largest}};
    if (c.side) entry["side"] = *c.side;
    json["crossovers"].push_back(entry);
  }
  // File names need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string size_plot(const std::vector<Row>& rows, const std::vector<Crossover>& crossovers, const Hardware& machine) {
  Plot plot;
  plot.title = "Time of an image against its size";
  plot.subtitle = machine.gpu ? machine.gpu->info.name + ", medians, both axes logarithmic"
                              : "no GPU on this machine, medians, both axes logarithmic";
  plot.x_label = "side of the image, pixels";
  plot.y_label = "time of one image, ms";
  std::set<double> ticks;
  std::vector<std::string> chains;
  for (const Row& row : rows) {
    ticks.insert(static_cast<double>(row.image.extent.width));
    if (chains.empty() || chains.back() != row.chain) chains.push_back(row.chain);
  }
  plot.ticks.assign(ticks.begin(), ticks.end());
  for (const std::string& chain : chains) {
    Panel panel{chain, {}, {}};
    for (const Place place : {Place::host, Place::host_to_host, Place::device})
      if (Curve curve = curve_of(chain, rows, place, machine); !curve.points.empty())
        panel.curves.push_back(std::move(curve));
    for (const Crossover& c : crossovers)
      if (c.chain == chain && c.side)
        panel.marks.emplace_back(static_cast<double>(*c.side),
                                 fmt::format("pays from {} {}", size_words(*c.side, c.volume),
                                             c.place == Place::device ? "in device memory" : "host to host"));
    plot.panels.push_back(std::move(panel));
  }
  return svg(plot);
}

}  // namespace imgpipe::bench
