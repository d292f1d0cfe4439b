#include "pipeline/plan/plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "pipeline/plan/stages.h"

namespace imgpipe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// CUDA passes at most 32,764 bytes to a kernel; images, borders and counters take the rest.
constexpr std::size_t most_parameter_bytes = 32764 - 2048;

template <class T>
const T* op_of(const Graph& graph, int node) {
  return std::get_if<T>(&graph.nodes[node].op);
}

std::vector<bool> live_nodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes.size(), false);
  for (const auto& result : graph.results) live[result.value] = true;
  for (const auto& report : graph.reports) live[report.reduce] = true;
  for (int n = static_cast<int>(graph.nodes.size()) - 1; n >= 0; --n) {
    if (!live[n]) continue;
    for (int input : graph.nodes[n].inputs) live[input] = true;
    if (graph.nodes[n].scalars) live[*graph.nodes[n].scalars] = true;
  }
  return live;
}

bool is_work(const Graph& graph, int node) { return !op_of<InputOp>(graph, node) && !op_of<ViewOp>(graph, node); }

/// The planner's working state: the live operations in order, and who uses what.
struct Planner {
  const Graph& graph;
  const Machine& machine;
  const PlanOptions& options;
  std::vector<int> order;               // live nodes but inputs, in graph order
  std::vector<std::vector<int>> users;  // live users of each value
  std::vector<bool> is_result;

  Planner(const Graph& g, const Machine& m, const PlanOptions& o) : graph(g), machine(m), options(o) {
    users.resize(g.nodes.size());
    is_result.resize(g.nodes.size(), false);
    const std::vector<bool> live = live_nodes(g);
    for (int n = 0; n < static_cast<int>(g.nodes.size()); ++n) {
      if (!live[n]) continue;
      if (!op_of<InputOp>(g, n)) order.push_back(n);
      for (int input : g.nodes[n].inputs) users[input].push_back(n);
      if (g.nodes[n].scalars) users[*g.nodes[n].scalars].push_back(n);
    }
    for (const auto& result : g.results) is_result[result.value] = true;
  }

  /// Why order[i, j) cannot be one group; empty when it can.
  std::string conflict(std::size_t i, std::size_t j) const;
  bool same_shape(const std::vector<int>& inside, const std::vector<int>& work) const;
  std::optional<Group> group(std::size_t i, std::size_t j) const;
  void cost(Group& g) const;
  void cost_of_tiles(Group& g, double loaded, double stored) const;
  double vectors(const Group& g, int value) const;
};

bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::size_t parameter_bytes(const Graph& graph, int node) {
  if (const auto* window = op_of<WindowOp>(graph, node)) return window->device.blob.size();
  if (const auto* pixel = op_of<PixelOp>(graph, node)) return pixel->device.blob.size();
  return 0;
}

bool stored_alone(const ReduceOp& reduce) { return reduce.kind != ReduceOp::Kind::extrema; }

std::string Planner::conflict(std::size_t i, std::size_t j) const {
  std::vector<int> inside;
  const Extent* extent = nullptr;
  std::size_t parameters = 0;
  for (std::size_t k = i; k < j; ++k) {
    const int n = order[k];
    const GraphNode& node = graph.nodes[n];
    const bool computed_here = std::any_of(node.inputs.begin(), node.inputs.end(),
                                           [&](int v) { return contains(inside, v) && is_work(graph, v); });
    if (op_of<ViewOp>(graph, n) && computed_here) return node.label + " looks at a finished image";
    if (const auto* window = op_of<WindowOp>(graph, n); window && window->border == Border::wrap && computed_here)
      return "border wrap of " + node.label + " needs the far side of the image";
    parameters += parameter_bytes(graph, n);
    if (parameters > most_parameter_bytes && parameters > parameter_bytes(graph, n))
      return "the parameters of a kernel are full at " + node.label;
    if (node.scalars && contains(inside, *node.scalars)) return node.label + " needs numbers over the whole image";
    if (is_work(graph, n)) {
      if (extent && *extent != node.value.desc.extent) return node.label + " works on another size";
      extent = &node.value.desc.extent;
    }
    inside.push_back(n);
  }
  return {};
}

std::optional<Group> Planner::group(std::size_t i, std::size_t j) const {
  Group g;
  for (std::size_t k = i; k < j; ++k) {
    const int n = order[k];
    if (op_of<ViewOp>(graph, n)) continue;
    if (op_of<ReduceOp>(graph, n))
      g.reduces.push_back(n);
    else
      g.nodes.push_back(n);
    g.extent = graph.nodes[n].value.desc.extent;
  }
  for (int n : g.nodes)
    for (int v : graph.nodes[n].inputs)
      if (!contains(g.nodes, v) && !contains(g.loads, v)) g.loads.push_back(v);
  for (int r : g.reduces)
    if (const int v = graph.nodes[r].inputs[0]; !contains(g.nodes, v) && !contains(g.loads, v)) g.loads.push_back(v);
  for (int n : g.nodes) {
    const bool outside = is_result[n] || std::any_of(users[n].begin(), users[n].end(), [&](int u) {
                           if (const auto* r = op_of<ReduceOp>(graph, u); r && stored_alone(*r)) return true;
                           return !contains(g.nodes, u) && !contains(g.reduces, u);
                         });
    if (outside) g.stores.push_back(n);
  }
  if (!g.nodes.empty() || !g.reduces.empty()) {
    make_stages(graph, g);
    cost(g);
  }
  if (g.seconds == infinity) return std::nullopt;
  return g;
}

double padded(const Group& g, const Halo& halo) {
  double samples = 1;
  for (int a = 0; a < 3; ++a) samples *= g.tile[a] + halo.low[a] + halo.high[a];
  return samples;
}

/// Pixels that a tile loads: whole groups of four along x.
double loaded_of(const Group& g) {
  Halo whole = g.stages[0].region;
  whole.low[0] = (whole.low[0] + 3) / 4 * 4;
  whole.high[0] = (whole.high[0] + 3) / 4 * 4;
  return padded(g, whole);
}

double tiles_of(const Group& g) {
  const std::int64_t size[3] = {g.extent.width, g.extent.height, g.extent.depth};
  double tiles = 1;
  for (int a = 0; a < 3; ++a) tiles *= static_cast<double>((size[a] + g.tile[a] - 1) / g.tile[a]);
  return tiles;
}

double node_flops(const Graph& graph, int n) {
  if (const auto* pixel = op_of<PixelOp>(graph, n)) return pixel->flops;
  if (const auto* window = op_of<WindowOp>(graph, n)) return window->flops;
  return 2;
}

void Planner::cost(Group& g) const {
  const double pixels = static_cast<double>(g.extent.pixels());
  auto bytes_per_pixel = [&](int v) {
    const ValueInfo& info = graph.nodes[v].value;
    return static_cast<double>(info.desc.channels * size_of(graph.nodes[source_of(graph, v).value].value.storage()));
  };
  double loaded = 0, stored = 0;
  for (int v : g.loads) loaded += bytes_per_pixel(v);
  for (int v : g.stores) stored += bytes_per_pixel(v);
  for (int r : g.reduces)
    if (stored_alone(*op_of<ReduceOp>(graph, r))) loaded += 3 * bytes_per_pixel(graph.nodes[r].inputs[0]);
  g.bytes = pixels * (loaded + stored);

  const bool windows =
      std::any_of(g.stages.begin(), g.stages.end(), [](const Stage& s) { return s.source == Stage::Source::window; });
  if (!windows) {
    for (int n : g.nodes) g.flops += pixels * graph.nodes[n].value.desc.channels * node_flops(graph, n);
    g.seconds =
        machine.group_seconds + std::max(g.bytes / machine.bytes_per_second, g.flops / machine.flops_per_second);
    return;
  }
  std::vector<std::array<int, 3>> candidates = g.extent.depth > 1 ? machine.tiles_3d : machine.tiles_2d;
  if (options.tile[0] > 0) candidates = {options.tile};
  Group best = g;
  best.seconds = infinity;
  for (const auto& tile : candidates) {
    Group trial = g;
    trial.tile = tile;
    cost_of_tiles(trial, loaded, stored);
    if (trial.seconds < best.seconds) best = std::move(trial);
  }
  g = std::move(best);
}

/// Channels of a value; narrow samples count for less, since more of them fit a vector.
double Planner::vectors(const Group& g, int value) const {
  const ImageDesc& desc = graph.nodes[value].value.desc;
  const bool narrow = machine.native_tiles && contains(g.native, value);
  return desc.channels * (narrow ? static_cast<double>(size_of(desc.dtype)) / 4 : 1);
}

void Planner::cost_of_tiles(Group& g, double loaded, double stored) const {
  const double pixels = static_cast<double>(g.extent.pixels());
  const std::int64_t memory = tile_bytes(graph, g, nullptr, machine.native_tiles);
  g.tile_in_memory = memory > machine.fast_memory;
  const double tiles = tiles_of(g);
  const Halo& halo = g.stages[0].region;
  g.flops += machine.tile_flops * tiles;
  for (int v : g.loads) g.flops += machine.load_flops * tiles * loaded_of(g) * vectors(g, v);
  for (int v : g.stores) g.flops += machine.store_flops * pixels * vectors(g, v);
  for (const Stage& stage : g.stages) {
    const double samples = tiles * padded(g, stage.region);
    if (stage.source == Stage::Source::window)
      g.flops += samples * vectors(g, stage.window) * node_flops(graph, stage.window);
    g.flops += machine.pass_flops * samples;
    for (int n : stage.nodes) g.flops += samples * graph.nodes[n].value.desc.channels * node_flops(graph, n);
  }
  const double halo_factor = tiles * padded(g, halo) / pixels;
  // Halo pixels come from L2 mostly: they cost a fraction of main memory traffic.
  const double moved =
      pixels * (loaded * (1 + 0.15 * (halo_factor - 1)) + stored) + (g.tile_in_memory ? 2.0 * memory * tiles : 0.0);
  const double by_bytes = moved / machine.bytes_per_second, by_flops = g.flops / machine.flops_per_second;
  g.seconds = machine.group_seconds +
              machine.crowding(memory) * (std::max(by_bytes, by_flops) + 0.35 * std::min(by_bytes, by_flops));
}

}  // namespace

/// Fitted to 137 groupings of 13 chains on an H200, by relative error.
Machine Machine::gpu() {
  return {"H200",
          4.2e12,
          19e12,
          3e-6,
          12,
          0,
          0,
          34e3,
          227 * 1024,
          false,
          {{64, 64, 1}, {64, 32, 1}, {64, 96, 1}, {128, 32, 1}, {128, 64, 1}, {256, 8, 1}, {64, 16, 1}},
          {{32, 8, 8},
           {32, 16, 8},
           {64, 8, 4},
           {32, 16, 16},
           {64, 8, 8},
           {128, 4, 2},
           {32, 32, 1},
           {64, 32, 1},
           {64, 4, 16},
           {16, 8, 8}}};
}

/// Few resident tiles cannot hide latency: measured on an H200 with a Gaussian and a chain, 36 to 100 KiB a tile.
double Machine::crowding(std::int64_t tile_bytes) const {
  const std::int64_t resident = fast_memory / (tile_bytes + 1024);
  return resident >= 4 ? 1.0 : resident == 3 ? 1.1 : resident == 2 ? 1.35 : 2.0;
}

Machine Machine::cpu() {
  return {"CPU",
          20e9,
          60e9,
          20e-6,
          6,
          6,
          4,
          0,
          1024 * 1024,
          true,
          {{256, 64, 1},
           {512, 64, 1},
           {512, 32, 1},
           {256, 128, 1},
           {1024, 16, 1},
           {128, 128, 1},
           {2048, 32, 1},
           {512, 128, 1},
           {512, 256, 1},
           {1024, 128, 1}},
          {{64, 16, 16}, {128, 16, 8}, {64, 32, 8}, {64, 32, 32}, {256, 16, 4}, {256, 64, 1}}};
}

double Plan::bytes() const {
  return std::accumulate(groups.begin(), groups.end(), 0.0, [](double sum, const Group& g) { return sum + g.bytes; });
}

double Plan::seconds() const {
  return std::accumulate(groups.begin(), groups.end(), 0.0, [](double sum, const Group& g) { return sum + g.seconds; });
}

Source source_of(const Graph& graph, int value) {
  Source source{value, {}};
  while (const auto* view = std::get_if<ViewOp>(&graph.nodes[source.value].op)) {
    for (int a = 0; a < 3; ++a) {
      source.view.offset[a] = view->offset[a] + view->step[a] * source.view.offset[a];
      source.view.step[a] *= view->step[a];
    }
    source.value = graph.nodes[source.value].inputs[0];
  }
  return source;
}

Plan make_plan(Graph graph, const Machine& machine, const PlanOptions& options) {
  Plan plan{std::move(graph), {}, {}, machine};
  plan.live = live_nodes(plan.graph);
  const Planner planner(plan.graph, machine, options);
  const std::size_t count = planner.order.size();
  struct Best {
    double seconds = infinity;
    std::size_t from = 0;
  };
  std::vector<Best> best(count + 1);
  best[0].seconds = 0;
  for (std::size_t j = 1; j <= count; ++j) {
    for (std::size_t i = j; i-- > 0;) {
      if (!options.fuse && j - i > 1) break;
      if (best[i].seconds == infinity || !planner.conflict(i, j).empty()) continue;
      if (const auto g = planner.group(i, j); g && best[i].seconds + g->seconds < best[j].seconds)
        best[j] = {best[i].seconds + g->seconds, i};
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> cuts;
  for (std::size_t j = count; j > 0; j = best[j].from) cuts.insert(cuts.begin(), {best[j].from, j});
  for (const auto& [i, j] : cuts) {
    Group g = *planner.group(i, j);
    if (g.nodes.empty() && g.reduces.empty()) continue;
    if (j == count)
      g.ends = "the chain ends";
    else if (!options.fuse)
      g.ends = "fusion is off";
    else {
      g.ends = planner.conflict(i, j + 1);
      if (g.ends.empty()) g.ends = "a longer group would cost more than a round trip through memory";
    }
    plan.groups.push_back(std::move(g));
  }
  // A result that nothing computes (an input or a view of stored samples) is copied by a group of its own.
  for (const auto& result : plan.graph.results) {
    if (is_work(plan.graph, result.value)) continue;
    Group copy;
    copy.loads = copy.stores = {result.value};
    copy.extent = plan.graph.nodes[result.value].value.desc.extent;
    make_stages(plan.graph, copy);
    planner.cost(copy);
    copy.ends = "the chain ends";
    plan.groups.push_back(std::move(copy));
  }
  return plan;
}

}  // namespace imgpipe
