#include "pipeline/exec/cpu/layout.h"

#include <algorithm>
#include <optional>

#include "pipeline/exec/cpu/tile.h"

namespace imgpipe {

DType dtype_of(const Graph& graph, const Form& form) {
  const ValueInfo& info = graph.nodes[form.value].value;
  return form.native ? info.desc.dtype : dtype_of(info.compute);
}

namespace {

std::vector<TileWork> work_of(const Graph& graph, const Group& group) {
  const std::set<int> native(group.native.begin(), group.native.end());
  const auto made = [&](int v) { return Form{v, native.count(v) > 0}; };
  std::vector<TileWork> work;
  std::set<int> widened;
  for (int v : group.loads) work.push_back({TileWork::Kind::load, v, {}, made(v)});
  for (int n : group.nodes) {
    std::vector<Form> reads;
    for (int v : graph.nodes[n].inputs) {
      reads.push_back({v, native.count(n) > 0});
      if (native.count(v) && !native.count(n) && widened.insert(v).second)
        work.push_back({TileWork::Kind::widen, v, {made(v)}, {v, false}});
    }
    work.push_back({TileWork::Kind::node, n, std::move(reads), made(n)});
  }
  return work;
}

std::size_t bytes_of(const Graph& graph, const Group& group, const std::array<int, 3>& tile, const Form& form) {
  const auto need = group.need.find(form.value);
  const Halo halo = need == group.need.end() ? Halo{} : need->second;
  const DType dtype = dtype_of(graph, form);
  std::int64_t samples = graph.nodes[form.value].value.desc.channels;
  for (int a = 0; a < 3; ++a) {
    const int size = tile[a] + halo.low[a] + halo.high[a];
    samples *= a == 0 ? pitch_of(size, dtype) : size;
  }
  return static_cast<std::size_t>(samples) * size_of(dtype) + 128;
}

/// Gives memory to forms: those whose lives do not meet share it.
class Slots {
 public:
  Slots(Layout& layout, const Graph& graph, const Group& group, const std::array<int, 3>& tile)
      : layout_(layout), graph_(graph), group_(group), tile_(tile) {
    for (std::size_t k = 0; k < layout.work.size(); ++k)
      for (const Form& form : layout.work[k].reads) last_[form] = k;
  }

  void give(std::size_t k) {
    const TileWork& work = layout_.work[k];
    const std::optional<Form> reused = overwritten(k);
    if (reused) {
      layout_.in_place[work.value] = *reused;
      use(work.makes, layout_.slot_of.at(*reused));
    } else {
      take(work.makes);
    }
    std::set<Form> done;
    for (const Form& form : work.reads)
      if (form != reused && last_.at(form) == k && done.insert(form).second) free_.push_back(layout_.slot_of.at(form));
    if (!last_.count(work.makes)) free_.push_back(layout_.slot_of.at(work.makes));
  }

 private:
  /// The input that a per-pixel operation may overwrite, because nothing reads it afterwards.
  std::optional<Form> overwritten(std::size_t k) const {
    const TileWork& work = layout_.work[k];
    if (work.kind != TileWork::Kind::node) return std::nullopt;
    const GraphNode& node = graph_.nodes[work.value];
    const Form first = work.reads[0];
    const ValueInfo& in = graph_.nodes[first.value].value;
    if (layout_.as_stored.count(first.value)) return std::nullopt;
    const bool dies = last_.at(first) == k && std::count(work.reads.begin(), work.reads.end(), first) == 1;
    if (!dies || std::holds_alternative<WindowOp>(node.op) || in.compute != node.value.compute ||
        in.desc.channels != node.value.desc.channels)
      return std::nullopt;
    return first;
  }

  void use(const Form& form, std::size_t slot) {
    layout_.slot_of[form] = slot;
    layout_.slot_bytes[slot] = std::max(layout_.slot_bytes[slot], bytes_of(graph_, group_, tile_, form));
  }

  void take(const Form& form) {
    if (free_.empty()) {
      free_.push_back(layout_.slot_bytes.size());
      layout_.slot_bytes.push_back(0);
    }
    const std::size_t slot = free_.front();
    free_.erase(free_.begin());
    use(form, slot);
  }

  Layout& layout_;
  const Graph& graph_;
  const Group& group_;
  std::array<int, 3> tile_;
  std::map<Form, std::size_t> last_;  // the last work that reads a form
  std::vector<std::size_t> free_;
};

bool is_as_stored(const Graph& graph, const Form& load) {
  const ValueInfo& stored = graph.nodes[source_of(graph, load.value).value].value;
  return stored.desc.channels == 1 && stored.storage() == dtype_of(graph, load);
}

}  // namespace

Layout lay_out(const Graph& graph, const Group& group, const std::array<int, 3>& tile) {
  Layout layout;
  layout.work = work_of(graph, group);
  for (const TileWork& work : layout.work)
    if (work.kind == TileWork::Kind::load && is_as_stored(graph, work.makes)) layout.as_stored.insert(work.value);
  Slots slots(layout, graph, group, tile);
  for (std::size_t k = 0; k < layout.work.size(); ++k) slots.give(k);
  return layout;
}

}  // namespace imgpipe
