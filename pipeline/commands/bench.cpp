#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "io/image/errors.h"
#include "pipeline/commands/options.h"
#include "pipeline/commands/subject.h"
#include "pipeline/config/config.h"
#include "pipeline/exec/cuda/executor.h"
#include "pipeline/plan/chain.h"

namespace imgpipe::commands {
namespace {

struct Workload {
  const char* name;
  const char* image;  ///< at full size on the GPU
  const char* small;  ///< on the CPU
  const char* steps;
};

constexpr Workload workloads[] = {
    {"pointwise5_f32", "8192x8192:float32", "4096x4096:float32",
     "- linear: {gain: 1.2, offset: 0.05}\n- clamp: {low: 0, high: 1}\n- gamma: 0.8\n- invert\n"},
    {"gaussian_s2_f32", "8192x8192:float32", "4096x4096:float32", "- gaussian: 2\n"},
    {"gaussian_s10_f32", "8192x8192:float32", "4096x4096:float32", "- gaussian: 10\n"},
    {"sobel_mag_f32", "8192x8192:float32", "4096x4096:float32", "- sobel\n"},
    {"median3_u16", "8192x8192:uint16", "4096x4096:uint16", "- median: 1\n"},
    {"median5_u16", "8192x8192:uint16", "4096x4096:uint16", "- median: 2\n"},
    {"open15_u8", "8192x8192:uint8", "4096x4096:uint8", "- open: 7\n"},
    {"chain2d_u16", "8192x8192:uint16", "4096x4096:uint16",
     "- median: 1\n- unsharp: {sigma: 2, amount: 1.5}\n- clamp: {low: 0, high: 65535}\n- gamma: 0.8\n- normalize\n- "
     "rescale: uint8\n"},
    {"gaussian3d_s2_f32", "512x512x512:float32", "128x128x128:float32", "- gaussian: 2\n"},
    {"chain3d_u16", "512x512x512:uint16", "128x128x128:uint16",
     "- median: 1\n- gaussian: 1\n- sobel\n- threshold: 1000\n"},
};

/// Random samples: uniform over the dtype, or over [0, 1].
Image random_pixels(const ImageDesc& desc) {
  Image image(desc);
  std::uint64_t state = 7;
  const auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  };
  visit_dtype(desc.dtype, [&](auto t) {
    using T = decltype(t);
    for (std::int64_t i = 0; i < desc.samples(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        image.samples<T>()[i] = static_cast<T>((next() >> 40) * 0x1p-24);
      else
        image.samples<T>()[i] = static_cast<T>(next() >> 20);
    }
  });
  return image;
}

struct Timing {
  double median = 0, low = 0, high = 0;
};

Timing timing_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back()};
}

Timing time_cpu(const Plan& plan, const Image& image, int repeats) {
  const auto executor = make_cpu_executor();
  const Image* inputs[] = {&image};
  std::vector<double> seconds;
  for (int k = 0; k < repeats + 1; ++k) {
    const double s = executor->run(plan, inputs).compute_seconds;
    if (k > 0) seconds.push_back(s);
  }
  return timing_of(seconds);
}

}  // namespace

int bench(const Arguments& arguments) {
  CommandLine line("imgpipe bench [WORKLOAD...] [OPTIONS]",
                   "Times named chains on this machine: on the GPU with the image in device memory, on the CPU from "
                   "memory to memory.\n"
                   "Each line has the median, the spread, the floor by bytes and the fraction of it that is reached.");
  line.positional("name", -1);
  line.add()("backend", po::value<std::string>()->default_value("auto"),
             "auto (both where there is a GPU), cuda or cpu")("device", po::value<int>()->default_value(0),
                                                              "number of the GPU")(
      "repeats", po::value<int>()->default_value(20), "measured runs")("json", "one JSON object a line");
  const auto values = line.parse(arguments);
  if (!values) return done;
  const std::string backend = (*values)["backend"].as<std::string>();
  if (backend != "auto" && backend != "cuda" && backend != "cpu")
    throw UsageError("--backend: must be auto, cuda or cpu, got '" + backend + "'");
  const int repeats = (*values)["repeats"].as<int>();
  if (repeats < 1 || repeats > 10000) throw UsageError("--repeats: must be in [1, 10000]");
  std::vector<std::string> wanted;
  if (values->count("name")) wanted = (*values)["name"].as<std::vector<std::string>>();
  std::vector<std::string> names;
  for (const Workload& w : workloads) names.emplace_back(w.name);
  for (const std::string& name : wanted)
    if (!std::count(names.begin(), names.end(), name))
      throw UsageError("unknown workload '" + name +
                       "'; known: chain2d_u16, gaussian_s2_f32, …; run without a name for all");
  std::shared_ptr<cuda::Device> device;
  if (backend != "cpu") {
    try {
      device = cuda::open_device({(*values)["device"].as<int>(), {}});
    } catch (const DeviceError& error) {
      if (backend == "cuda") throw;
      std::fprintf(stderr, "no GPU rows: %s\n", error.what());
    }
  }
  const auto print = [&](const Workload& w, const char* where, const ImageDesc& desc, const Plan& plan,
                         const Timing& t) {
    const double floor = plan.bytes() / plan.machine.bytes_per_second;
    if (values->count("json")) {
      nlohmann::ordered_json json = {
          {"workload", w.name},           {"backend", where},      {"image", describe(desc)},
          {"ms", t.median * 1e3},         {"ms_low", t.low * 1e3}, {"ms_high", t.high * 1e3},
          {"groups", plan.groups.size()}, {"bytes", plan.bytes()}, {"predicted_ms", plan.seconds() * 1e3},
          {"floor_ms", floor * 1e3}};
      std::puts(json.dump().c_str());
    } else {
      std::printf(
          "%-18s %-5s %-24s %9.4f ms  [%.4f, %.4f]  %zu groups  moved %.0f MB  floor %.4f ms (%.0f %%)  predicted %.4f "
          "ms\n",
          w.name, where, describe(desc).c_str(), t.median * 1e3, t.low * 1e3, t.high * 1e3, plan.groups.size(),
          plan.bytes() / 1e6, floor * 1e3, 100 * floor / t.median, plan.seconds() * 1e3);
    }
    std::fflush(stdout);
  };
  for (const Workload& w : workloads) {
    if (!wanted.empty() && !std::count(wanted.begin(), wanted.end(), w.name)) continue;
    const Config config = parse_config(std::string("steps:\n") + w.steps, w.name, {});
    if (device) {
      const ImageDesc desc = parse_image(w.image);
      const Plan plan = make_plan(build_graph(config, desc, {}), Machine::gpu());
      const Image image = random_pixels(desc);
      const Image* inputs[] = {&image};
      print(w, "cuda", desc, plan, timing_of(time_resident(*device, plan, inputs, {3, repeats}).seconds));
    }
    if (backend != "cuda") {
      const ImageDesc desc = parse_image(w.small);
      const Plan plan = make_plan(build_graph(config, desc, {}), Machine::cpu());
      const Image image = random_pixels(desc);
      print(w, "cpu", desc, plan, time_cpu(plan, image, std::min(repeats, 7)));
    }
  }
  return done;
}

}  // namespace imgpipe::commands
