#include "pipeline/plan/explain.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace imgpipe {
namespace {

std::string value_words(const Graph& graph, int value) {
  const GraphNode& node = graph.nodes[value];
  ImageDesc desc = node.value.desc;
  desc.dtype = node.value.storage();
  return (node.step > 0 ? fmt::format("step {} {}", node.step, node.label) : node.label) + " (" + describe(desc) + ")";
}

std::string node_word(const Graph& graph, int n) {
  const GraphNode& node = graph.nodes[n];
  if (const auto* cast = std::get_if<CastOp>(&node.op)) return fmt::format("to {}", name(cast->to));
  return node.label;
}

std::string halo_words(const Halo& halo) {
  if (halo.empty()) return "none";
  std::string text;
  const char* axes[] = {"x", "y", "z"};
  for (int a = 0; a < 3; ++a) {
    if (halo.low[a] == 0 && halo.high[a] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axes[a], halo.low[a]);
    if (halo.low[a] != halo.high[a]) text += fmt::format("+{}", halo.high[a]);
  }
  return text;
}

std::string steps_of(const Graph& graph, const Group& group) {
  std::string text;
  for (int n : group.nodes) {
    const std::string word = node_word(graph, n);
    const std::string tail = " > " + word;
    // Passes of one filter follow each other: name it once.
    if (text == word || (text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0))
      continue;
    text += text.empty() ? word : tail;
  }
  for (int r : group.reduces) text += (text.empty() ? "" : " + ") + graph.nodes[r].label + " numbers";
  return text.empty() ? "copy" : text;
}

}  // namespace

std::string explain_text(const Plan& plan) {
  const Graph& graph = plan.graph;
  std::string text = fmt::format("plan for {}: {} group{}\n", plan.machine.name, plan.groups.size(),
                                 plan.groups.size() == 1 ? "" : "s");
  int number = 0;
  for (const Group& group : plan.groups) {
    text += fmt::format("\ngroup {}: {}\n", ++number, steps_of(graph, group));
    for (int v : group.loads) text += "  reads   " + value_words(graph, v) + "\n";
    for (int v : group.stores) text += "  writes  " + value_words(graph, v) + "\n";
    if (group.tile[0] > 0) {
      text += fmt::format("  tile    {} x {} x {}, halo {}\n", group.tile[0], group.tile[1], group.tile[2],
                          halo_words(group.halo));
      text += fmt::format("  memory  {:.1f} KiB a tile{}\n",
                          tile_bytes(graph, group, nullptr, plan.machine.native_tiles) / 1024.0,
                          group.tile_in_memory ? " (in main memory: too large for fast memory)" : "");
    }
    text += fmt::format("  moves   {:.2f} MB, {:.2f} GFLOP; floor {:.4f} ms by bytes, predicted {:.4f} ms\n",
                        group.bytes / 1e6, group.flops / 1e9, group.bytes / plan.machine.bytes_per_second * 1e3,
                        group.seconds * 1e3);
    text += "  ends    " + group.ends + "\n";
  }
  text += fmt::format("\nin all {:.2f} MB moved, predicted {:.4f} ms\n", plan.bytes() / 1e6, plan.seconds() * 1e3);
  return text;
}

std::string explain_json(const Plan& plan) {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"machine", plan.machine.name}, {"bytes", plan.bytes()}, {"seconds", plan.seconds()}, {"groups", Json::array()}};
  for (const Group& group : plan.groups) {
    Json steps = Json::array(), loads = Json::array(), stores = Json::array();
    for (int n : group.nodes)
      steps.push_back({{"step", plan.graph.nodes[n].step}, {"operation", node_word(plan.graph, n)}});
    for (int r : group.reduces)
      steps.push_back({{"step", plan.graph.nodes[r].step}, {"operation", plan.graph.nodes[r].label + " numbers"}});
    for (int v : group.loads) loads.push_back(value_words(plan.graph, v));
    for (int v : group.stores) stores.push_back(value_words(plan.graph, v));
    json["groups"].push_back(
        {{"operations", steps},
         {"reads", loads},
         {"writes", stores},
         {"tile", group.tile},
         {"halo_low", group.halo.low},
         {"halo_high", group.halo.high},
         {"tile_bytes", group.tile[0] > 0 ? tile_bytes(plan.graph, group, nullptr, plan.machine.native_tiles) : 0},
         {"bytes", group.bytes},
         {"flops", group.flops},
         {"seconds", group.seconds},
         {"ends", group.ends}});
  }
  return json.dump(2);
}

}  // namespace imgpipe
