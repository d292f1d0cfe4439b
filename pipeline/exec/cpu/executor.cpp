// The CPU executor: every group runs tile by tile in cache, tiles in parallel. A worker keeps its tiles' memory.
#include "pipeline/exec/executor.h"

#include <tbb/blocked_range.h>
#include <tbb/combinable.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "pipeline/exec/cpu/layout.h"
#include "pipeline/exec/cpu/tile.h"
#include "pipeline/exec/reduce.h"
#include "pipeline/exec/rows.h"

namespace imgpipe {
namespace {

ConstImageView through(const ConstImageView& base, const ViewOp& op, const Extent& extent) {
  ConstImageView view = base;
  view.data += base.offset(op.offset[0], op.offset[1], op.offset[2]) * static_cast<std::int64_t>(size_of(base.dtype));
  view.stride_x *= op.step[0];
  view.stride_y *= op.step[1];
  view.stride_z *= op.step[2];
  view.extent = extent;
  return view;
}

class GroupRun {
 public:
  GroupRun(const Plan& plan, const Group& group, std::array<int, 3> tile, std::map<int, Image>& stored,
           std::span<const Image* const> inputs, const std::vector<std::vector<double>>& scalars)
      : graph_(plan.graph),
        group_(group),
        tile_(tile),
        stored_(stored),
        inputs_(inputs),
        scalars_(scalars),
        layout_(lay_out(plan.graph, group, tile)) {
    for (int v : group.loads) sources_[v] = view_of(v);
    for (int v : group.stores) {
      const ValueInfo& info = graph_.nodes[v].value;
      ImageDesc desc = info.desc;
      desc.dtype = info.storage();
      if (!stored_.count(v)) stored_.emplace(v, Image(desc));
      targets_[v] = stored_.at(v).view();
    }
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
    std::map<Form, TileBuffer> buffers;
    std::map<int, Extrema> extrema;
    Counts counts;
  };

  TileBuffer place(const Form& form, const Box& core, Worker& worker) const {
    const auto known = group_.need.find(form.value);
    TileBuffer buffer;
    buffer.box = known == group_.need.end() ? core : core.grown(known->second);
    buffer.dtype = dtype_of(graph_, form);
    buffer.pitch = pitch_of(buffer.box.size(0), buffer.dtype);
    buffer.plane = buffer.pitch * buffer.box.size(1);
    buffer.channel = buffer.plane * buffer.box.size(2);
    const std::size_t number = layout_.slot_of.at(form);
    std::vector<std::byte>& slot = worker.slots[number];
    if (slot.size() < layout_.slot_bytes[number]) slot.resize(layout_.slot_bytes[number]);
    const auto address = reinterpret_cast<std::uintptr_t>(slot.data());
    buffer.data = slot.data() + ((64 - address % 64) % 64);
    return buffer;
  }

  void run_tile(const Box& core, Worker& worker) {
    worker.slots.resize(layout_.slot_bytes.size());
    worker.buffers.clear();
    for (const TileWork& work : layout_.work) {
      const auto reused = layout_.in_place.find(work.value);
      worker.buffers[work.makes] = work.kind == TileWork::Kind::node && reused != layout_.in_place.end()
                                       ? worker.buffers[reused->second]
                                       : place(work.makes, core, worker);
      if (work.kind == TileWork::Kind::load)
        load(work.value, worker.buffers[work.makes]);
      else if (work.kind == TileWork::Kind::widen)
        widen(worker.buffers[work.reads[0]], worker.buffers[work.makes], graph_.nodes[work.value].value.desc);
      else
        run_node(work, core, worker);
      if (work.kind != TileWork::Kind::widen) finish(work.makes, core, worker);
    }
  }

  void run_node(const TileWork& work, const Box& core, Worker& worker) {
    const GraphNode& node = graph_.nodes[work.value];
    if (const auto* window = std::get_if<WindowOp>(&node.op))
      run_window(work, node, *window, core, worker);
    else if (const auto* pixel = std::get_if<PixelOp>(&node.op))
      run_pixel(work, node, *pixel, core, worker);
    else
      run_cast(work, node, core, worker);
  }

  /// A value of the tile is complete: it goes to memory and into its reductions.
  void finish(const Form& form, const Box& core, Worker& worker) {
    const TileBuffer& buffer = worker.buffers[form];
    if (targets_.count(form.value)) store(form.value, buffer, core);
    for (int r : group_.reduces) {
      const GraphNode& reduce = graph_.nodes[r];
      if (reduce.inputs[0] != form.value || std::get<ReduceOp>(reduce.op).kind != ReduceOp::Kind::extrema) continue;
      for (int c = 0; c < reduce.value.colours(); ++c)
        for_rows(core, [&](std::int64_t y, std::int64_t z) {
          worker.extrema[r].add(buffer.at(c, core.begin[0], y, z), buffer.dtype, core.size(0));
        });
    }
  }

  Box needed(int value, const Box& core) const {
    const auto known = group_.need.find(value);
    return (known == group_.need.end() ? core : core.grown(known->second)).inside(group_.extent);
  }

  void load(int value, TileBuffer& buffer) {
    const ConstImageView& view = sources_.at(value);
    if (layout_.as_stored.count(value) && view.stride_x == 1 && buffer.box.within(view.extent))
      return see_image(view, buffer);
    const Box box = buffer.box.inside(view.extent);
    for (int c = 0; c < view.channels; ++c)
      for_rows(box, [&](std::int64_t y, std::int64_t z) {
        rows::load(view.data + view.offset(box.begin[0], y, z, c) * static_cast<std::int64_t>(size_of(view.dtype)),
                   view.dtype, view.stride_x, buffer.at(c, box.begin[0], y, z), buffer.dtype, box.size(0));
      });
  }

  /// The tile inside the image instead of a copy of it: nothing writes to a load's samples there.
  static void see_image(const ConstImageView& view, TileBuffer& buffer) {
    const auto& [x, y, z] = buffer.box.begin;
    buffer.data =
        const_cast<std::byte*>(view.data) + view.offset(x, y, z) * static_cast<std::int64_t>(size_of(view.dtype));
    buffer.pitch = view.stride_y;
    buffer.plane = view.stride_z;
  }

  void widen(const TileBuffer& in, const TileBuffer& out, const ImageDesc& desc) {
    const Box box = out.box.inside(desc.extent);
    for (int c = 0; c < desc.channels; ++c)
      for_rows(box, [&](std::int64_t y, std::int64_t z) {
        rows::load(in.at(c, box.begin[0], y, z), in.dtype, 1, out.at(c, box.begin[0], y, z), out.dtype, box.size(0));
      });
  }

  void store(int value, const TileBuffer& buffer, const Box& core) {
    const ImageView& view = targets_.at(value);
    for (int c = 0; c < view.channels; ++c)
      for_rows(core, [&](std::int64_t y, std::int64_t z) {
        rows::store(buffer.at(c, core.begin[0], y, z), buffer.dtype,
                    view.data + view.offset(core.begin[0], y, z, c) * static_cast<std::int64_t>(size_of(view.dtype)),
                    view.dtype, view.stride_x, core.size(0));
      });
  }

  void run_window(const TileWork& work, const GraphNode& node, const WindowOp& op, const Box& core, Worker& worker) {
    const TileBuffer& in = worker.buffers[work.reads[0]];
    const TileBuffer& out = worker.buffers[work.makes];
    const Box box = needed(work.value, core);
    const Box region = box.grown(op.halo);
    for (int c = 0; c < node.value.desc.channels; ++c) {
      if (node.value.desc.alpha && c == node.value.desc.channels - 1 && !op.filters_alpha) {
        for_rows(box, [&](std::int64_t y, std::int64_t z) {
          rows::load(in.at(c, box.begin[0], y, z), in.dtype, 1, out.at(c, box.begin[0], y, z), out.dtype, box.size(0));
        });
        continue;
      }
      if (!region.within(group_.extent)) {
        if (op.border == Border::wrap)
          refill_wrapped(in, c, region, sources_.at(node.inputs[0]));
        else
          refill(in, c, region, group_.extent, op.border, op.constant);
      }
      const auto& run = work.makes.native ? op.cpu_native : op.cpu;
      run({in.at(c, box.begin[0], box.begin[1], box.begin[2]), in.pitch, in.plane,
           out.at(c, box.begin[0], box.begin[1], box.begin[2]), out.pitch, out.plane, box.size(0), box.size(1),
           box.size(2)});
    }
  }

  void run_pixel(const TileWork& work, const GraphNode& node, const PixelOp& op, const Box& core, Worker& worker) {
    const TileBuffer& out = worker.buffers[work.makes];
    const Box box = needed(work.value, core);
    const int channels = node.value.desc.channels;
    const bool alpha = node.value.desc.alpha && op.channelwise;
    const TileBuffer& first = worker.buffers[work.reads[0]];
    if (alpha && out.data != first.data) copy_channel(first, out, channels - 1, box);
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
            in[k][c] = worker.buffers[work.reads[k]].at(op.channelwise ? pass : c, box.begin[0], y, z);
          in_rows[k] = in[k].data();
        }
        out_rows.resize(op.channelwise ? 1 : channels);
        for (std::size_t c = 0; c < out_rows.size(); ++c)
          out_rows[c] = out.at(op.channelwise ? pass : static_cast<int>(c), box.begin[0], y, z);
        op.cpu({in_rows.data(), out_rows.data(), box.size(0), static_cast<int>(in[0].size()), box.begin[0], y, z,
                group_.extent, scalars});
      });
  }

  static void copy_channel(const TileBuffer& in, const TileBuffer& out, int c, const Box& box) {
    for_rows(box, [&](std::int64_t y, std::int64_t z) {
      std::memcpy(out.at(c, box.begin[0], y, z), in.at(c, box.begin[0], y, z), box.size(0) * size_of(in.dtype));
    });
  }

  void run_cast(const TileWork& work, const GraphNode& node, const Box& core, Worker& worker) {
    const auto& op = std::get<CastOp>(node.op);
    const TileBuffer& in = worker.buffers[work.reads[0]];
    const TileBuffer& out = worker.buffers[work.makes];
    const Compute from = graph_.nodes[node.inputs[0]].value.compute;
    const Box box = needed(work.value, core);
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
