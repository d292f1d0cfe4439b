#include <fmt/format.h>
#include <tbb/info.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "filters/base/nearest.h"
#include "io/image/errors.h"
#include "pipeline/batch/output.h"
#include "pipeline/bench/rows.h"
#include "pipeline/bench/workloads.h"
#include "pipeline/commands/message.h"
#include "pipeline/commands/options.h"
#include "pipeline/commands/subject.h"
#include "pipeline/plan/chain.h"

namespace imgpipe::commands {
namespace {

namespace fs = std::filesystem;

/// What is timed: a named workload or a person's own file.
struct Chain {
  std::string name;
  Config config;
  ImageDesc image, cpu_image;
  std::vector<ImageDesc> others;
};

struct Wish {
  bool gpu = true, cpu = true, gpu_required = false;
  int device = 0, repeats = 20;
  std::optional<ImageDesc> image;
};

/// What is timed without a name where each chain takes long.
const std::vector<std::string> few = {"pointwise5_f32", "gaussian_s2_f32", "median5_u16", "chain2d_u16"};
constexpr int block_sizes[] = {32, 64, 128, 256, 512, 1024};

std::string sizes_of(const ImageDesc& image) {
  const Extent& e = image.extent;
  return image.volume ? fmt::format("{}x{}x{}:{}", e.width, e.height, e.depth, name(image.dtype))
                      : fmt::format("{}x{}:{}", e.width, e.height, name(image.dtype));
}

Chain chain_of(const std::string& name, const Wish& wish) {
  if (const bench::Workload* w = bench::find_workload(name))
    return {name,
            parse_config(std::string("steps:\n") + w->steps, name, {}),
            wish.image.value_or(w->image),
            wish.image.value_or(w->cpu_image),
            {}};
  const std::string suffix = fs::path(name).extension().string();
  if (suffix != ".yaml" && suffix != ".yml" && suffix != ".json" && !fs::exists(name)) {
    const std::vector<std::string> names = bench::workload_names();
    throw UsageError("unknown workload '" + name + "'" + did_you_mean(name, names) +
                     "; name a pipeline file (.yaml), or one of " + listing(names));
  }
  Subject subject = load_subject(name, {}, wish.image, {});
  return {name, std::move(subject.config), subject.image, subject.image, std::move(subject.others)};
}

std::vector<Chain> chains_of(const po::variables_map& values, const Wish& wish) {
  std::vector<std::string> names;
  if (values.count("name"))
    names = values["name"].as<std::vector<std::string>>();
  else if (values.count("sizes") || values.count("blocks"))
    names = few;
  else
    names = bench::workload_names();
  std::vector<Chain> chains;
  for (const std::string& name : names) chains.push_back(chain_of(name, wish));
  for (const Chain& chain : chains)
    if (values.count("sizes") && !chain.others.empty())
      throw UsageError(chain.name + ": --sizes: the files that its steps name by `with:` have one size only");
  return chains;
}

/// Times chains, keeps the rows and shows them as they come.
class Bench {
 public:
  Bench(const Wish& wish, bool show) : wish_(wish), show_(show) {
    if (wish.gpu) open_gpu();
    machine_.cpu_threads = tbb::info::default_concurrency();
    if (!wish.cpu) return;
    machine_.copy_rate = bench::host_copy_rate(machine_.cpu_threads);
    machine_.copy_rate_alone = machine_.cpu_threads > 1 ? bench::host_copy_rate(1) : machine_.copy_rate;
  }

  void as_it_is(const Chain& chain) {
    if (device_) {
      const Graph graph = build_graph(chain.config, chain.image, chain.others);
      on_gpu(chain.name, chain.image, graph);
    }
    if (!wish_.cpu) return;
    const bench::Trial trial =
        bench::make_trial(build_graph(chain.config, chain.cpu_image, chain.others), Machine::cpu());
    on_cpu(chain.name, chain.cpu_image, trial, machine_.cpu_threads);
    if (machine_.cpu_threads > 1) on_cpu(chain.name, chain.cpu_image, trial, 1);
  }

  void over_sizes(const Chain& chain) {
    const std::size_t before = rows_.size();
    std::string refusal;
    const std::int64_t smallest = chain.image.volume ? 16 : 64, largest = chain.image.volume ? 512 : 8192;
    for (std::int64_t side = smallest; side <= largest; side *= 2) {
      ImageDesc image = chain.image;
      image.extent = {side, side, chain.image.volume ? side : 1};
      try {
        const Graph graph = build_graph(chain.config, image, {});
        if (device_) on_gpu(chain.name, image, graph);
        if (wish_.cpu) on_cpu(chain.name, image, bench::make_trial(graph, Machine::cpu()), machine_.cpu_threads);
      } catch (const UsageError& error) {
        refusal = error.what();
        tell(fmt::format("left out: {} pixels a side: {}", side, refusal));
      }
    }
    if (rows_.size() == before) throw UsageError(refusal);
    const std::vector<bench::Crossover> found = bench::crossovers(chain.name, rows_);
    crossovers_.insert(crossovers_.end(), found.begin(), found.end());
  }

  void over_blocks(const Chain& chain) {
    const bench::Trial trial = bench::make_trial(build_graph(chain.config, chain.image, chain.others), Machine::gpu());
    for (const int threads : block_sizes) in_device_memory(chain.name, chain.image, trial, threads);
  }

  const std::vector<bench::Row>& rows() const { return rows_; }
  const std::vector<bench::Crossover>& crossovers() const { return crossovers_; }
  const bench::Hardware& machine() const { return machine_; }

 private:
  void open_gpu() {
    try {
      device_ = cuda::open_device({wish_.device, {}});
    } catch (const DeviceError& error) {
      if (wish_.gpu_required) throw;
      tell(std::string("no GPU rows: ") + error.what());
      return;
    }
    executor_ = make_cuda_executor(device_, make_cpu_executor());
    machine_.gpu = {device_->info(), bench::device_rates(*device_)};
  }

  bench::Row row_of(const std::string& chain, const ImageDesc& image, const bench::Trial& trial, bench::Place place) {
    bench::Row row;
    row.chain = chain;
    row.place = place;
    row.image = image;
    row.bytes = trial.plan.bytes();
    row.predicted = trial.plan.seconds();
    row.groups = trial.plan.groups.size();
    return row;
  }

  void add(bench::Row row) {
    if (show_) {
      if (rows_.empty()) std::fputs(bench::table_head().c_str(), stdout);
      std::fputs(bench::table_line(row, machine_).c_str(), stdout);
      std::fflush(stdout);
    }
    rows_.push_back(std::move(row));
  }

  void on_gpu(const std::string& chain, const ImageDesc& image, const Graph& graph) {
    const bench::Trial trial = bench::make_trial(graph, Machine::gpu());
    in_device_memory(chain, image, trial, cuda::default_threads);
    const bench::DeviceRates& rates = machine_.gpu->rates;
    bench::Row row = row_of(chain, image, trial, bench::Place::host_to_host);
    row.block_threads = cuda::default_threads;
    row.time = bench::time_host_to_host(*executor_, trial, std::min(wish_.repeats, 7));
    row.floor = std::max(trial.bytes_in() / rates.upload, trial.bytes_out() / rates.download);
    row.predicted = std::max(row.predicted, row.floor);
    add(std::move(row));
  }

  void in_device_memory(const std::string& chain, const ImageDesc& image, const bench::Trial& trial, int threads) {
    bench::Row row = row_of(chain, image, trial, bench::Place::device);
    ResidentTimes times = time_resident(*device_, trial.plan, trial.inputs(), {3, wish_.repeats, threads});
    row.block_threads = threads;
    row.time = bench::spread_of(std::move(times.seconds));
    row.kernels = std::move(times.kernels);
    row.floor = (trial.bytes_in() + trial.bytes_out()) / machine_.gpu->rates.copy;
    add(std::move(row));
  }

  void on_cpu(const std::string& chain, const ImageDesc& image, const bench::Trial& trial, int threads) {
    bench::Row row = row_of(chain, image, trial, bench::Place::host);
    row.cpu_threads = threads;
    row.time = bench::time_cpu(trial, threads, std::min(wish_.repeats, 20));
    row.floor = (trial.bytes_in() + trial.bytes_out()) / (threads == 1 ? machine_.copy_rate_alone : machine_.copy_rate);
    add(std::move(row));
  }

  Wish wish_;
  bool show_;
  std::shared_ptr<cuda::Device> device_;
  std::unique_ptr<Executor> executor_;
  bench::Hardware machine_;
  std::vector<bench::Row> rows_;
  std::vector<bench::Crossover> crossovers_;
};

int list_workloads(bool json) {
  auto list = nlohmann::ordered_json::array();
  for (const bench::Workload& w : bench::workloads()) {
    list.push_back(
        {{"name", w.name}, {"image", sizes_of(w.image)}, {"cpu_image", sizes_of(w.cpu_image)}, {"steps", w.steps}});
    if (json) continue;
    std::string steps = w.steps;
    steps.pop_back();
    for (std::size_t at = 0; (at = steps.find('\n', at)) != std::string::npos;) steps.replace(at, 1, "  ");
    std::printf("%-18s %-20s %s\n", w.name, sizes_of(w.image).c_str(), steps.c_str());
  }
  if (json) std::puts(list.dump(2).c_str());
  return done;
}

void add_options(CommandLine& line) {
  line.positional("name", -1);
  line.add()("sizes",
             "time against image size, 64 to 8192 pixels a side (volumes: 16 to 512), and from which size the "
             "GPU pays")("blocks", "on the GPU: 32 to 1024 threads a block, with occupancy and registers")(
      "plot", po::value<std::string>(), "with --sizes: write the curves to this SVG file")(
      "image", po::value<std::string>(),
      "time on WIDTHxHEIGHT[xDEPTH]:DTYPE[:CHANNELS] instead, such as 1024x1024:uint16")(
      "backend", po::value<std::string>()->default_value("auto"), "auto (both where there is a GPU), cuda or cpu")(
      "device", po::value<int>()->default_value(0), "number of the GPU")(
      "repeats", po::value<int>()->default_value(20), "measured runs")("json", "print one JSON document")(
      "csv", "print CSV")("list", "list the workloads: images and steps");
}

Wish wish_of(const po::variables_map& values) {
  for (const auto& [one, other] : {std::pair("sizes", "blocks"), std::pair("json", "csv"), std::pair("csv", "list")})
    if (values.count(one) && values.count(other))
      throw UsageError(fmt::format("--{} and --{} exclude each other", one, other));
  if (values.count("plot") && !values.count("sizes")) throw UsageError("--plot: there is a plot of --sizes only");
  Wish wish;
  const std::string backend = values["backend"].as<std::string>();
  const std::vector<std::string> backends = {"auto", "cuda", "cpu"};
  if (!std::count(backends.begin(), backends.end(), backend))
    throw UsageError("--backend: must be auto, cuda or cpu, got '" + backend + "'" + did_you_mean(backend, backends));
  if (backend == "cpu" && values.count("blocks"))
    throw UsageError("--blocks: the blocks are the GPU's; leave --backend cpu out");
  wish.gpu = backend != "cpu";
  wish.cpu = backend != "cuda" && !values.count("blocks");
  wish.gpu_required = !wish.cpu;
  wish.device = values["device"].as<int>();
  wish.repeats = values["repeats"].as<int>();
  if (wish.repeats < 1 || wish.repeats > 10000)
    throw UsageError(fmt::format("--repeats: must be in [1, 10000], got {}", wish.repeats));
  if (values.count("image")) wish.image = parse_image(values["image"].as<std::string>());
  return wish;
}

/// Said before the time is spent.
void check_place(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (!folder.empty() && !fs::is_directory(folder))
    throw UsageError("--plot: " + folder.string() + " is no folder and cannot be made one");
  if (fs::is_directory(path)) throw UsageError("--plot: " + path + " is a folder");
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    throw UsageError("--plot: " + path + " cannot be written: " + std::strerror(errno));
}

void write_plot(const std::string& path, const Bench& bench) {
  const std::string text = bench::size_plot(bench.rows(), bench.crossovers(), bench.machine());
  write_whole(path, [&](const std::string& temporary) {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.flush();
    if (!out) throw InputError(path, "the plot cannot be written");
  });
}

}  // namespace

int bench(const Arguments& arguments) {
  CommandLine line(
      "imgpipe bench [WORKLOAD | FILE.yaml]... [OPTIONS]",
      "Times chains of filters on random images: on the GPU with the image in device memory and host to host with "
      "several\nimages under way, on the CPU with all threads and with one.\n"
      "A row has the median, the quartiles, the floor (what must be read and written once, at the measured speed of "
      "memory\nor of the link), the fraction of it that is reached, the bytes that the plan moves and the time it "
      "predicts.\nA FILE is timed on an image like the first of its inputs.\n\nWorkloads: " +
          listing(bench::workload_names()));
  add_options(line);
  const auto values = line.parse(arguments);
  if (!values) return done;
  const Wish wish = wish_of(*values);
  if (values->count("list")) return list_workloads(values->count("json") > 0);
  const std::vector<Chain> chains = chains_of(*values, wish);
  if (values->count("plot")) check_place((*values)["plot"].as<std::string>());
  const bool show = !values->count("json") && !values->count("csv");
  Bench bench(wish, show);
  for (const Chain& chain : chains) {
    if (values->count("sizes"))
      bench.over_sizes(chain);
    else if (values->count("blocks"))
      bench.over_blocks(chain);
    else
      bench.as_it_is(chain);
  }
  if (values->count("plot")) write_plot((*values)["plot"].as<std::string>(), bench);
  if (values->count("json"))
    std::fputs(bench::json(bench.rows(), bench.crossovers(), bench.machine()).c_str(), stdout);
  else if (values->count("csv"))
    std::fputs(bench::csv(bench.rows(), bench.machine()).c_str(), stdout);
  else
    for (const bench::Crossover& c : bench.crossovers()) std::puts(bench::words(c).c_str());
  return done;
}

}  // namespace imgpipe::commands
