#include "pipeline/plan/stages.h"

#include <algorithm>

namespace imgpipe {
namespace {

bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

const WindowOp* window_of(const Graph& graph, int node) { return std::get_if<WindowOp>(&graph.nodes[node].op); }

/// A cross-channel operation on more than one channel cannot follow a window in registers: windows see one channel.
bool needs_all_channels(const Graph& graph, int node) {
  const auto* pixel = std::get_if<PixelOp>(&graph.nodes[node].op);
  if (!pixel || pixel->channelwise) return false;
  const auto many = [&](int v) { return graph.nodes[v].value.desc.channels > 1; };
  return many(node) || std::any_of(graph.nodes[node].inputs.begin(), graph.nodes[node].inputs.end(), many);
}

void keep(Group& group, int value, int first, int last) {
  for (TileValue& known : group.tile_values)
    if (known.value == value) {
      known.last_stage = std::max(known.last_stage, last);
      return;
    }
  group.tile_values.push_back({value, {}, first, last});
  group.stages[first].keeps.push_back(value);
}

/// Decides the stage of every node and what has to be kept in tile memory.
void lay_out(const Graph& graph, Group& group) {
  group.stages.clear();
  group.tile_values.clear();

  group.stages.push_back({});
  std::map<int, int> stage;
  for (int v : group.loads) stage[v] = 0;
  for (int n : group.nodes) {
    const GraphNode& node = graph.nodes[n];
    int at = 0;
    for (int v : node.inputs) at = std::max(at, stage[v]);
    if (window_of(graph, n)) {
      group.stages.push_back({Stage::Source::window, n, {}, {}, {}});
      at = static_cast<int>(group.stages.size()) - 1;
    } else {
      if (needs_all_channels(graph, n) && group.stages[at].source == Stage::Source::window) {
        group.stages.push_back({Stage::Source::tile, -1, {}, {}, {}});
        at = static_cast<int>(group.stages.size()) - 1;
      }
      group.stages[at].nodes.push_back(n);
    }
    stage[n] = at;
    for (int v : node.inputs) {
      const bool load = contains(group.loads, v);
      if (window_of(graph, n) || (stage[v] < at && !load)) keep(group, v, stage[v], at);
    }
  }
}

bool only_chooses(const Graph& graph, int node) {
  const auto* window = window_of(graph, node);
  return window && window->cpu_native;
}

void find_native(const Graph& graph, Group& group) {
  for (int v : group.loads) {
    const ValueInfo& info = graph.nodes[v].value;
    const bool as_stored = info.whole && graph.nodes[source_of(graph, v).value].value.storage() == info.desc.dtype;
    const bool chosen_from = std::any_of(group.nodes.begin(), group.nodes.end(), [&](int n) {
      return only_chooses(graph, n) && graph.nodes[n].inputs[0] == v;
    });
    if (as_stored && chosen_from) group.native.push_back(v);
  }
  for (int n : group.nodes)
    if (only_chooses(graph, n) && contains(group.native, graph.nodes[n].inputs[0])) group.native.push_back(n);
}

void spread_needs(const Graph& graph, Group& group) {
  for (int pass = 0; pass < 4; ++pass) {
    for (std::size_t k = group.nodes.size(); k-- > 0;) {
      const int n = group.nodes[k];
      const auto* window = window_of(graph, n);
      const Halo need = window ? group.need[n] + window->halo : group.need[n];
      for (int v : graph.nodes[n].inputs) group.need[v] = group.need[v].max(need);
    }
    // What is computed in one pass is computed over one region.
    for (Stage& stage : group.stages) {
      std::vector<int> values = stage.nodes;
      if (stage.source == Stage::Source::window) values.push_back(stage.window);
      for (int v : values) stage.region = stage.region.max(group.need[v]);
      for (int v : stage.keeps) stage.region = stage.region.max(group.need[v]);
      for (int v : values) group.need[v] = group.need[v].max(stage.region);
    }
  }
}

}  // namespace

int stage_of(const Group& group, int value) {
  if (contains(group.loads, value)) {
    for (const TileValue& kept : group.tile_values)
      if (kept.value == value) return 0;
    return -1;
  }
  for (std::size_t s = 0; s < group.stages.size(); ++s)
    if (group.stages[s].window == value || contains(group.stages[s].nodes, value)) return static_cast<int>(s);
  return 0;
}

void make_stages(const Graph& graph, Group& group) {
  find_native(graph, group);
  lay_out(graph, group);
  spread_needs(graph, group);
  for (TileValue& kept : group.tile_values) kept.halo = group.stages[kept.first_stage].region;
  for (int v : group.loads) group.halo = group.halo.max(group.need[v]);
}

TileShape tile_shape(const Group& group, const TileValue& value) {
  const auto up4 = [](int n) { return (n + 3) / 4 * 4; };
  TileShape shape{};
  shape.left = up4(value.halo.low[0]);
  shape.top = value.halo.low[1];
  shape.front = value.halo.low[2];
  shape.pitch = shape.left + up4(group.tile[0] + value.halo.high[0]);
  if (shape.pitch / 4 % 2 == 0) shape.pitch += 4;
  shape.rows = group.tile[1] + value.halo.low[1] + value.halo.high[1];
  shape.planes = group.tile[2] + value.halo.low[2] + value.halo.high[2];
  return shape;
}

std::int64_t tile_bytes(const Graph& graph, const Group& group, std::vector<std::int64_t>* offsets, bool native) {
  struct Placed {
    std::int64_t begin, end;
    int first, last;
  };
  std::vector<Placed> placed;
  std::int64_t total = 0;
  if (offsets) offsets->clear();
  for (const TileValue& value : group.tile_values) {
    const ValueInfo& info = graph.nodes[value.value].value;
    const DType dtype = native && contains(group.native, value.value) ? info.desc.dtype : dtype_of(info.compute);
    const std::int64_t size =
        (tile_shape(group, value).samples() * info.desc.channels * static_cast<std::int64_t>(size_of(dtype)) + 15) /
        16 * 16;
    std::int64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Placed& other : placed) {
        const bool together = value.first_stage <= other.last && other.first <= value.last_stage;
        if (together && at < other.end && other.begin < at + size) {
          at = other.end;
          moved = true;
        }
      }
    }
    placed.push_back({at, at + size, value.first_stage, value.last_stage});
    total = std::max(total, at + size);
    if (offsets) offsets->push_back(at);
  }
  return total;
}

}  // namespace imgpipe
