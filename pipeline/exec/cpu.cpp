// The CPU executor: every group runs tile by tile in cache, tiles in parallel. A worker keeps its tiles' memory.
#include <tbb/blocked_range.h>
#include <tbb/combinable.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "pipeline/exec/executor.h"
#include "pipeline/exec/reduce.h"
#include "pipeline/exec/rows.h"

namespace imgpipe {
namespace {

/// Pixels [begin, end) of an image on each axis.
struct Box {
  std::array<std::int64_t, 3> begin, end;
  std::int64_t size(int a) const { return end[a] - begin[a]; }
  Box grown(const Halo& halo) const {
    Box box = *this;
    for (int a = 0; a < 3; ++a) {
      box.begin[a] -= halo.low[a];
      box.end[a] += halo.high[a];
    }
    return box;
  }
  Box inside(const Extent& extent) const {
    const std::int64_t sizes[3] = {extent.width, extent.height, extent.depth};
    Box box = *this;
    for (int a = 0; a < 3; ++a) {
      box.begin[a] = std::max<std::int64_t>(0, begin[a]);
      box.end[a] = std::min(sizes[a], end[a]);
    }
    return box;
  }
  bool within(const Extent& extent) const {
    return begin[0] >= 0 && begin[1] >= 0 && begin[2] >= 0 && end[0] <= extent.width && end[1] <= extent.height &&
           end[2] <= extent.depth;
  }
};

/// Where a value of the group lives during a tile: planar channels over `box`.
struct TileBuffer {
  std::byte* data = nullptr;
  Box box;
  std::int64_t pitch = 0, plane = 0, channel = 0;  // in samples
  std::size_t sample = 4;
  std::byte* at(int c, std::int64_t x, std::int64_t y, std::int64_t z) const {
    return data + (c * channel + (z - box.begin[2]) * plane + (y - box.begin[1]) * pitch + (x - box.begin[0])) * sample;
  }
};

ConstImageView through(const ConstImageView& base, const ViewOp& op, const Extent& extent) {
  ConstImageView view = base;
  view.data += base.offset(op.offset[0], op.offset[1], op.offset[2]) * static_cast<std::int64_t>(size_of(base.dtype));
  view.stride_x *= op.step[0];
  view.stride_y *= op.step[1];
  view.stride_z *= op.step[2];
  view.extent = extent;
  return view;
}

/// Fills the part of `region` that lies outside the image from the buffer's in-image values.
template <class T>
void refill(const TileBuffer& buffer, int c, const Box& region, const Extent& extent, Border border, T constant) {
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return reinterpret_cast<T*>(buffer.at(c, x, y, z));
  };
  const Box in = region.inside(extent);
  const std::int64_t width = region.size(0);
  for (std::int64_t z = in.begin[2]; z < in.end[2]; ++z)
    for (std::int64_t y = in.begin[1]; y < in.end[1]; ++y) {
      T* row = at(region.begin[0], y, z) - region.begin[0];
      for (std::int64_t x = region.begin[0]; x < region.end[0]; ++x) {
        if (x == in.begin[0]) x = in.end[0];
        if (x >= region.end[0]) break;
        const std::int64_t from = border_index(x, extent.width, border);
        row[x] = from < 0 ? constant : row[from];
      }
    }
  for (std::int64_t z = in.begin[2]; z < in.end[2]; ++z)
    for (std::int64_t y = region.begin[1]; y < region.end[1]; ++y) {
      if (y >= in.begin[1] && y < in.end[1]) continue;
      const std::int64_t from = border_index(y, extent.height, border);
      T* row = at(region.begin[0], y, z);
      if (from < 0)
        std::fill(row, row + width, constant);
      else
        std::copy_n(at(region.begin[0], from, z), width, row);
    }
  for (std::int64_t z = region.begin[2]; z < region.end[2]; ++z) {
    if (z >= in.begin[2] && z < in.end[2]) continue;
    const std::int64_t from = border_index(z, extent.depth, border);
    for (std::int64_t y = region.begin[1]; y < region.end[1]; ++y) {
      T* row = at(region.begin[0], y, z);
      if (from < 0)
        std::fill(row, row + width, constant);
      else
        std::copy_n(at(region.begin[0], y, from), width, row);
    }
  }
}

/// Fills the part of `region` outside the image from the far side of the stored image.
void refill_wrapped(const TileBuffer& buffer, int c, const Box& region, const ConstImageView& view, Compute compute) {
  const Box in = region.inside(view.extent);
  for (std::int64_t z = region.begin[2]; z < region.end[2]; ++z)
    for (std::int64_t y = region.begin[1]; y < region.end[1]; ++y)
      for (std::int64_t x = region.begin[0]; x < region.end[0]; ++x) {
        const bool inside =
            x >= in.begin[0] && x < in.end[0] && y >= in.begin[1] && y < in.end[1] && z >= in.begin[2] && z < in.end[2];
        if (inside) continue;
        const std::int64_t from = view.offset(border_index(x, view.extent.width, Border::wrap),
                                              border_index(y, view.extent.height, Border::wrap),
                                              border_index(z, view.extent.depth, Border::wrap), c);
        rows::load(view.data + from * static_cast<std::int64_t>(size_of(view.dtype)), view.dtype, 1,
                   buffer.at(c, x, y, z), compute, 1);
      }
}

/// Which memory every value of a group uses: values whose lives do not meet share.
struct Layout {
  std::vector<int> values;             // loads, then nodes
  std::map<int, std::size_t> slot_of;  // value -> slot
  std::vector<std::size_t> slot_bytes;
  std::map<int, int> in_place;  // node -> input whose buffer it overwrites
};

class GroupRun {
 public:
  GroupRun(const Plan& plan, const Group& group, std::array<int, 3> tile, std::map<int, Image>& stored,
           std::span<const Image* const> inputs, const std::vector<std::vector<double>>& scalars)
      : graph_(plan.graph), group_(group), tile_(tile), stored_(stored), inputs_(inputs), scalars_(scalars) {
    for (int v : group.loads) sources_[v] = view_of(v);
    for (int v : group.stores) {
      const ValueInfo& info = graph_.nodes[v].value;
      ImageDesc desc = info.desc;
      desc.dtype = info.storage();
      if (!stored_.count(v)) stored_.emplace(v, Image(desc));
      targets_[v] = stored_.at(v).view();
    }
    lay_out();
  }

  Counts run() {
    const std::int64_t size[3] = {group_.extent.width, group_.extent.height, group_.extent.depth};
    std::array<std::int64_t, 3> tiles;
    for (int a = 0; a < 3; ++a) tiles[a] = (size[a] + tile_[a] - 1) / tile_[a];
    tbb::enumerable_thread_specific<Worker> workers;
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, tiles[0] * tiles[1] * tiles[2]), [&](const auto& range) {
      Worker& worker = workers.local();
      for (std::int64_t t = range.begin(); t != range.end(); ++t) {
        const std::int64_t index[3] = {t % tiles[0], t / tiles[0] % tiles[1], t / (tiles[0] * tiles[1])};
        Box core;
        for (int a = 0; a < 3; ++a) {
          core.begin[a] = index[a] * tile_[a];
          core.end[a] = std::min(size[a], core.begin[a] + tile_[a]);
        }
        run_tile(core, worker);
      }
    });
    Counts counts;
    for (const Worker& worker : workers) {
      counts += worker.counts;
      for (const auto& [reduce, extrema] : worker.extrema) extrema_[reduce].merge(extrema);
    }
    return counts;
  }

  /// The scalars of a reduction of this group, after `run`.
  std::vector<double> scalars_of(int reduce) {
    const auto& op = std::get<ReduceOp>(graph_.nodes[reduce].op);
    if (op.kind == ReduceOp::Kind::extrema) return extrema_[reduce].scalars();
    const int value = graph_.nodes[reduce].inputs[0];
    const ValueInfo& info = graph_.nodes[value].value;
    return reduce_image(op, view_of(value), info.colours(), info.whole);
  }

  ConstImageView view_of(int value) const {
    const Source source = source_of(graph_, value);
    const auto* input = std::get_if<InputOp>(&graph_.nodes[source.value].op);
    const ConstImageView base = input ? inputs_[input->index]->view() : std::as_const(stored_.at(source.value)).view();
    return through(base, source.view, graph_.nodes[value].value.desc.extent);
  }

 private:
  struct Worker {
    std::vector<std::vector<std::byte>> slots;
    std::map<int, TileBuffer> buffers;
    std::map<int, Extrema> extrema;
    Counts counts;
  };

  std::size_t bytes_of(int value) const {
    const Halo& need = group_.need.count(value) ? group_.need.at(value) : Halo{};
    std::size_t samples = 1;
    for (int a = 0; a < 3; ++a) {
      std::size_t size = tile_[a] + need.low[a] + need.high[a];
      if (a == 0) size = (size + 15) / 16 * 16;
      samples *= size;
    }
    const ValueInfo& info = graph_.nodes[value].value;
    return samples * info.desc.channels * size_of(dtype_of(info.compute)) + 128;
  }

  void lay_out() {
    std::map<int, std::size_t> last;  // last node position that reads a value
    for (std::size_t k = 0; k < group_.nodes.size(); ++k)
      for (int v : graph_.nodes[group_.nodes[k]].inputs) last[v] = k;
    std::vector<std::size_t> free;
    const auto take = [&](int value) {
      const std::size_t bytes = bytes_of(value);
      for (std::size_t i = 0; i < free.size(); ++i) {
        const std::size_t slot = free[i];
        free.erase(free.begin() + i);
        layout_.slot_bytes[slot] = std::max(layout_.slot_bytes[slot], bytes);
        return layout_.slot_of[value] = slot;
      }
      layout_.slot_bytes.push_back(bytes);
      return layout_.slot_of[value] = layout_.slot_bytes.size() - 1;
    };
    for (int v : group_.loads) take(v);
    for (std::size_t k = 0; k < group_.nodes.size(); ++k) {
      const int n = group_.nodes[k];
      const GraphNode& node = graph_.nodes[n];
      const int first = node.inputs[0];
      const bool dies = last[first] == k && std::count(node.inputs.begin(), node.inputs.end(), first) == 1;
      const ValueInfo& in = graph_.nodes[first].value;
      if (dies && !std::holds_alternative<WindowOp>(node.op) && in.compute == node.value.compute &&
          in.desc.channels == node.value.desc.channels) {
        layout_.in_place[n] = first;
        layout_.slot_of[n] = layout_.slot_of[first];
        layout_.slot_bytes[layout_.slot_of[n]] = std::max(layout_.slot_bytes[layout_.slot_of[n]], bytes_of(n));
        release_inputs(node, k, last, free, first);
        if (!last.count(n)) free.push_back(layout_.slot_of[n]);
        continue;
      }
      take(n);
      release_inputs(node, k, last, free, -1);
      if (!last.count(n)) free.push_back(layout_.slot_of[n]);
    }
  }

  void release_inputs(const GraphNode& node, std::size_t k, const std::map<int, std::size_t>& last,
                      std::vector<std::size_t>& free, int kept) {
    std::vector<int> done;
    for (int v : node.inputs) {
      if (v == kept || last.at(v) != k || std::count(done.begin(), done.end(), v)) continue;
      done.push_back(v);
      free.push_back(layout_.slot_of.at(v));
    }
  }

  TileBuffer place(int value, const Box& core, Worker& worker) const {
    const auto known = group_.need.find(value);
    const ValueInfo& info = graph_.nodes[value].value;
    TileBuffer buffer;
    buffer.box = known == group_.need.end() ? core : core.grown(known->second);
    buffer.sample = size_of(dtype_of(info.compute));
    buffer.pitch = (buffer.box.size(0) + 15) / 16 * 16;
    buffer.plane = buffer.pitch * buffer.box.size(1);
    buffer.channel = buffer.plane * buffer.box.size(2);
    std::vector<std::byte>& slot = worker.slots[layout_.slot_of.at(value)];
    if (slot.size() < layout_.slot_bytes[layout_.slot_of.at(value)])
      slot.resize(layout_.slot_bytes[layout_.slot_of.at(value)]);
    const auto address = reinterpret_cast<std::uintptr_t>(slot.data());
    buffer.data = slot.data() + ((64 - address % 64) % 64);
    return buffer;
  }

  void run_tile(const Box& core, Worker& worker) {
    worker.slots.resize(layout_.slot_bytes.size());
    worker.buffers.clear();
    for (int v : group_.loads) {
      worker.buffers[v] = place(v, core, worker);
      load(v, worker.buffers[v]);
      finish(v, core, worker);
    }
    for (int n : group_.nodes) {
      const auto reused = layout_.in_place.find(n);
      worker.buffers[n] = reused != layout_.in_place.end() ? worker.buffers[reused->second] : place(n, core, worker);
      const GraphNode& node = graph_.nodes[n];
      if (const auto* window = std::get_if<WindowOp>(&node.op))
        run_window(n, node, *window, core, worker);
      else if (const auto* pixel = std::get_if<PixelOp>(&node.op))
        run_pixel(n, node, *pixel, core, worker);
      else
        run_cast(n, node, core, worker);
      finish(n, core, worker);
    }
  }

  /// A value of the tile is complete: it goes to memory and into its reductions.
  void finish(int value, const Box& core, Worker& worker) {
    const TileBuffer& buffer = worker.buffers[value];
    if (targets_.count(value)) store(value, buffer, core);
    for (int r : group_.reduces) {
      const GraphNode& reduce = graph_.nodes[r];
      if (reduce.inputs[0] != value || std::get<ReduceOp>(reduce.op).kind != ReduceOp::Kind::extrema) continue;
      const ValueInfo& info = graph_.nodes[value].value;
      for (int c = 0; c < info.colours(); ++c)
        for_rows(core, [&](std::int64_t y, std::int64_t z) {
          worker.extrema[r].add(buffer.at(c, core.begin[0], y, z), info.compute, core.size(0));
        });
    }
  }

  Box needed(int value, const Box& core) const {
    const auto known = group_.need.find(value);
    return (known == group_.need.end() ? core : core.grown(known->second)).inside(group_.extent);
  }

  template <class F>
  static void for_rows(const Box& box, F&& f) {
    for (std::int64_t z = box.begin[2]; z < box.end[2]; ++z)
      for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y) f(y, z);
  }

  void load(int value, const TileBuffer& buffer) {
    const ConstImageView& view = sources_.at(value);
    const ValueInfo& info = graph_.nodes[value].value;
    const Box box = buffer.box.inside(view.extent);
    for (int c = 0; c < view.channels; ++c)
      for_rows(box, [&](std::int64_t y, std::int64_t z) {
        rows::load(view.data + view.offset(box.begin[0], y, z, c) * static_cast<std::int64_t>(size_of(view.dtype)),
                   view.dtype, view.stride_x, buffer.at(c, box.begin[0], y, z), info.compute, box.size(0));
      });
  }

  void store(int value, const TileBuffer& buffer, const Box& core) {
    const ImageView& view = targets_.at(value);
    const ValueInfo& info = graph_.nodes[value].value;
    for (int c = 0; c < view.channels; ++c)
      for_rows(core, [&](std::int64_t y, std::int64_t z) {
        rows::store(buffer.at(c, core.begin[0], y, z), info.compute,
                    view.data + view.offset(core.begin[0], y, z, c) * size_of(view.dtype), view.dtype, view.stride_x,
                    core.size(0));
      });
  }

  void run_window(int n, const GraphNode& node, const WindowOp& op, const Box& core, Worker& worker) {
    const int input = node.inputs[0];
    const TileBuffer& in = worker.buffers[input];
    const TileBuffer& out = worker.buffers[n];
    const Compute compute = graph_.nodes[input].value.compute;
    const Box box = needed(n, core);
    const Box region = box.grown(op.halo);
    for (int c = 0; c < node.value.desc.channels; ++c) {
      if (node.value.desc.alpha && c == node.value.desc.channels - 1 && !op.filters_alpha) {
        for_rows(box, [&](std::int64_t y, std::int64_t z) {
          rows::cast(in.at(c, box.begin[0], y, z), compute, out.at(c, box.begin[0], y, z), dtype_of(node.value.compute),
                     box.size(0), nullptr);
        });
        continue;
      }
      if (!region.within(group_.extent)) {
        if (op.border == Border::wrap)
          refill_wrapped(in, c, region, sources_.at(input), compute);
        else
          visit_compute(compute, [&](auto t) {
            refill<decltype(t)>(in, c, region, group_.extent, op.border, static_cast<decltype(t)>(op.constant));
          });
      }
      op.cpu({in.at(c, box.begin[0], box.begin[1], box.begin[2]), in.pitch, in.plane,
              out.at(c, box.begin[0], box.begin[1], box.begin[2]), out.pitch, out.plane, box.size(0), box.size(1),
              box.size(2)});
    }
  }

  void run_pixel(int n, const GraphNode& node, const PixelOp& op, const Box& core, Worker& worker) {
    const TileBuffer& out = worker.buffers[n];
    const Box box = needed(n, core);
    const int channels = node.value.desc.channels;
    const bool alpha = node.value.desc.alpha && op.channelwise;
    if (alpha && out.data != worker.buffers[node.inputs[0]].data) copy_channel(node, channels - 1, box, out, worker);
    const int passes = op.channelwise ? channels - (alpha ? 1 : 0) : 1;
    const std::size_t inputs = node.inputs.size();
    std::vector<std::vector<const void*>> in(inputs);
    std::vector<const void* const*> in_rows(inputs);
    std::vector<void*> out_rows;
    const double* scalars = node.scalars ? scalars_[*node.scalars].data() : nullptr;
    for (int pass = 0; pass < passes; ++pass)
      for_rows(box, [&](std::int64_t y, std::int64_t z) {
        for (std::size_t k = 0; k < inputs; ++k) {
          const int count = op.channelwise ? 1 : graph_.nodes[node.inputs[k]].value.desc.channels;
          in[k].resize(count);
          for (int c = 0; c < count; ++c)
            in[k][c] = worker.buffers[node.inputs[k]].at(op.channelwise ? pass : c, box.begin[0], y, z);
          in_rows[k] = in[k].data();
        }
        out_rows.resize(op.channelwise ? 1 : channels);
        for (std::size_t c = 0; c < out_rows.size(); ++c)
          out_rows[c] = out.at(op.channelwise ? pass : static_cast<int>(c), box.begin[0], y, z);
        op.cpu({in_rows.data(), out_rows.data(), box.size(0), static_cast<int>(in[0].size()), box.begin[0], y, z,
                group_.extent, scalars});
      });
  }

  void copy_channel(const GraphNode& node, int c, const Box& box, const TileBuffer& out, Worker& worker) {
    const TileBuffer& in = worker.buffers[node.inputs[0]];
    for_rows(box, [&](std::int64_t y, std::int64_t z) {
      std::memcpy(out.at(c, box.begin[0], y, z), in.at(c, box.begin[0], y, z), box.size(0) * in.sample);
    });
  }

  void run_cast(int n, const GraphNode& node, const Box& core, Worker& worker) {
    const auto& op = std::get<CastOp>(node.op);
    const TileBuffer& in = worker.buffers[node.inputs[0]];
    const TileBuffer& out = worker.buffers[n];
    const Compute from = graph_.nodes[node.inputs[0]].value.compute;
    const Box box = needed(n, core);
    const auto part = [&](std::int64_t x0, std::int64_t x1, std::int64_t y, std::int64_t z, int c, Counts* counts) {
      if (x1 > x0) rows::cast(in.at(c, x0, y, z), from, out.at(c, x0, y, z), op.to, x1 - x0, counts);
    };
    for (int c = 0; c < node.value.desc.channels; ++c)
      for_rows(box, [&](std::int64_t y, std::int64_t z) {
        const bool own = y >= core.begin[1] && y < core.end[1] && z >= core.begin[2] && z < core.end[2];
        if (!own) return part(box.begin[0], box.end[0], y, z, c, nullptr);
        part(box.begin[0], core.begin[0], y, z, c, nullptr);
        part(core.begin[0], core.end[0], y, z, c, &worker.counts);
        part(core.end[0], box.end[0], y, z, c, nullptr);
      });
  }

  const Graph& graph_;
  const Group& group_;
  std::array<int, 3> tile_;
  std::map<int, Image>& stored_;
  std::span<const Image* const> inputs_;
  const std::vector<std::vector<double>>& scalars_;
  std::map<int, ConstImageView> sources_;
  std::map<int, ImageView> targets_;
  Layout layout_;
  std::map<int, Extrema> extrema_;
};

/// Groups without windows run in row segments that stay in the first-level cache.
std::array<int, 3> cpu_tile(const Group& group) {
  if (group.tile[0] > 0) return group.tile;
  return {2048, group.extent.width < 512 ? 8 : 1, 1};
}

class CpuExecutor : public Executor {
 public:
  std::string name() const override { return "cpu"; }
  Machine machine() const override { return Machine::cpu(); }
  RunResult run(const Plan& plan, std::span<const Image* const> inputs) override {
    const auto start = std::chrono::steady_clock::now();
    RunResult result;
    std::map<int, Image> stored;
    std::vector<std::vector<double>> scalars(plan.graph.nodes.size());
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      const Group& group = plan.groups[g];
      GroupRun run(plan, group, cpu_tile(group), stored, inputs, scalars);
      result.counts += run.run();
      for (int r : group.reduces) scalars[r] = run.scalars_of(r);
      drop_unused(plan, g, stored);
    }
    for (const auto& r : plan.graph.results) result.images.push_back(take_result(plan, r.value, stored));
    for (const auto& r : plan.graph.reports) result.reports.push_back(scalars[r.reduce]);
    result.compute_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

 private:
  static bool is_result(const Plan& plan, int value) {
    return std::any_of(plan.graph.results.begin(), plan.graph.results.end(),
                       [&](const auto& r) { return r.value == value; });
  }

  static void drop_unused(const Plan& plan, std::size_t done, std::map<int, Image>& stored) {
    for (auto it = stored.begin(); it != stored.end();) {
      bool needed = is_result(plan, it->first);
      for (std::size_t g = done + 1; g < plan.groups.size() && !needed; ++g)
        for (int v : plan.groups[g].loads) needed |= source_of(plan.graph, v).value == it->first;
      it = needed ? std::next(it) : stored.erase(it);
    }
  }

  static Image take_result(const Plan& plan, int value, std::map<int, Image>& stored) {
    const auto uses = std::count_if(plan.graph.results.begin(), plan.graph.results.end(),
                                    [&](const auto& r) { return r.value == value; });
    Image& image = stored.at(value);
    if (uses == 1) return std::move(image);
    Image copy(image.desc());
    std::memcpy(copy.data(), image.data(), static_cast<std::size_t>(image.desc().bytes()));
    return copy;
  }
};

}  // namespace

std::unique_ptr<Executor> make_cpu_executor() { return std::make_unique<CpuExecutor>(); }

}  // namespace imgpipe
