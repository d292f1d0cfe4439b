#include "tests/support/parity.h"

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <set>

#include "io/image/errors.h"
#include "pipeline/exec/cuda/executor.h"
#include "tests/support/twin_device.h"

namespace imgpipe::test {
namespace {

std::shared_ptr<cuda::Device> real_device() {
  try {
    return cuda::open_device();
  } catch (const DeviceError& error) {
    std::printf("no GPU: the cuda executor runs on the host twin only (%s)\n", error.what());
    return nullptr;
  }
}

Executors make_executors() {
  Executors e;
  e.gpu = real_device();
  e.device = e.gpu ? e.gpu : make_twin_device();
  e.simple = make_simple_executor();
  e.cpu = make_cpu_executor();
  e.cuda = make_cuda_executor(e.device, e.cpu);
  return e;
}

const PlanOptions unfused{false, {16, 8, 1}};

std::optional<Plan> try_plan(const std::string& step, const ImageDesc& desc, const Machine& machine,
                             const PlanOptions& options) {
  try {
    return plan_of(step, desc, {desc}, machine, options);
  } catch (const UsageError&) {
    return std::nullopt;  // this filter does not take such an image; its own test says so
  }
}

struct Variant {
  std::string name;
  Executor* executor;
  Machine machine;
  PlanOptions options;
};

std::vector<Variant> variants(bool volume) {
  Executors& e = executors();
  const PlanOptions small = volume ? small_3d : small_2d;
  std::vector<Variant> list{{"cpu", e.cpu.get(), Machine::cpu(), {}},
                            {"cpu, small tiles", e.cpu.get(), Machine::cpu(), small},
                            {"cpu, unfused", e.cpu.get(), Machine::cpu(), unfused},
                            {"cuda, small tiles", e.cuda.get(), Machine::gpu(), small}};
  if (e.gpu) list.push_back({"cuda", e.cuda.get(), Machine::gpu(), {}});
  if (e.gpu) list.push_back({"cuda, unfused", e.cuda.get(), Machine::gpu(), {false, {}}});
  return list;
}

}  // namespace

Executors& executors() {
  static Executors all = make_executors();
  return all;
}

void precompile_all(const std::vector<ParityRun>& runs, bool volume) {
  std::vector<cuda::KernelSource> sources;
  std::set<std::string> known;
  for (const Variant& v : variants(volume)) {
    if (v.executor != executors().cuda.get()) continue;
    for (const auto& [step, desc] : runs)
      if (const auto plan = try_plan(step, desc, v.machine, v.options))
        for (const Group& group : plan->groups) {
          cuda::KernelSource source = cuda::generate(plan->graph, group, true);
          if (known.insert(source.name).second) sources.push_back(std::move(source));
        }
  }
  if (!executors().gpu) return precompile(*executors().device, sources);
  tbb::parallel_for(std::size_t(0), sources.size(), [&](std::size_t i) { executors().gpu->kernel(sources[i]); });
}

bool expect_equal(const std::string& step, const ImageDesc& desc) {
  if (!try_plan(step, desc, Machine::cpu(), {})) return false;
  const Image image = random_image(desc, parity_seed), other = random_image(desc, parity_seed + 1);
  const std::vector<const Image*> inputs{&image, &other};
  const Plan plan = *try_plan(step, desc, Machine::cpu(), {});
  const RunResult expected = executors().simple->run(plan, inputs);
  for (const Variant& v : variants(desc.volume)) {
    const RunResult actual = v.executor->run(*try_plan(step, desc, v.machine, v.options), inputs);
    const std::string where = step + " on " + describe(desc) + ", " + v.name;
    EXPECT_TRUE(actual.notes.empty()) << where << ": " << (actual.notes.empty() ? "" : actual.notes[0]);
    EXPECT_EQ(difference(expected.images[0], actual.images[0]), "") << where;
    EXPECT_EQ(expected.counts.clipped, actual.counts.clipped) << where;
    EXPECT_EQ(expected.counts.nans, actual.counts.nans) << where;
    EXPECT_EQ(expected.reports.size(), actual.reports.size()) << where;
    for (std::size_t r = 0; r < std::min(expected.reports.size(), actual.reports.size()); ++r)
      for (std::size_t k = 0; k < expected.reports[r].size(); ++k)
        EXPECT_TRUE(expected.reports[r][k] == actual.reports[r][k] ||
                    (expected.reports[r][k] != expected.reports[r][k] && actual.reports[r][k] != actual.reports[r][k]))
            << where << " report " << k << ": " << expected.reports[r][k] << " against " << actual.reports[r][k];
  }
  return true;
}

}  // namespace imgpipe::test
