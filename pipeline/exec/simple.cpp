// The simple executor: whole image, operation by operation. Obviously right, and slow.
#include <chrono>
#include <utility>

#include "pipeline/exec/executor.h"
#include "pipeline/exec/reduce.h"
#include "pipeline/exec/rows.h"

namespace imgpipe {
namespace {

/// A value of the chain: one dense plane of the compute type a channel.
struct Planes {
  Compute compute = Compute::f32;
  Extent extent;
  std::vector<std::vector<std::byte>> channels;

  Planes(const ValueInfo& info)
      : compute(info.compute),
        extent(info.desc.extent),
        channels(info.desc.channels,
                 std::vector<std::byte>(info.desc.extent.pixels() * size_of(dtype_of(info.compute)))) {}
  std::size_t sample_size() const { return size_of(dtype_of(compute)); }
  std::byte* row(int c, std::int64_t y, std::int64_t z) {
    return channels[c].data() + (z * extent.height + y) * extent.width * sample_size();
  }
};

class Run {
 public:
  Run(const Plan& plan, std::span<const Image* const> inputs) : graph_(plan.graph), live_(plan.live), inputs_(inputs) {}

  RunResult go() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) evaluate(static_cast<int>(n));
    RunResult result;
    for (const auto& r : graph_.results) result.images.push_back(stored(r.value));
    for (const auto& r : graph_.reports) result.reports.push_back(scalars_[r.reduce]);
    result.counts = counts_;
    return result;
  }

 private:
  void evaluate(int n) {
    const GraphNode& node = graph_.nodes[n];
    values_.emplace_back(std::holds_alternative<ReduceOp>(node.op) || !live_[n] ? ValueInfo{} : node.value);
    scalars_.emplace_back();
    if (!live_[n]) return;
    std::visit([&](const auto& op) { apply(node, op, n); }, node.op);
  }

  template <class F>
  void for_rows(const Extent& extent, F&& f) {
    for (std::int64_t z = 0; z < extent.depth; ++z)
      for (std::int64_t y = 0; y < extent.height; ++y) f(y, z);
  }

  void apply(const GraphNode& node, const InputOp& op, int n) {
    const ConstImageView view = inputs_[op.index]->view();
    const std::size_t size = size_of(view.dtype);
    for (int c = 0; c < view.channels; ++c)
      for_rows(view.extent, [&](std::int64_t y, std::int64_t z) {
        rows::load(view.data + view.offset(0, y, z, c) * size, view.dtype, view.stride_x, values_[n].row(c, y, z),
                   dtype_of(node.value.compute), view.extent.width);
      });
  }

  void apply(const GraphNode& node, const PixelOp& op, int n) {
    const bool alpha = node.value.desc.alpha && op.channelwise;
    const int channels = node.value.desc.channels;
    if (alpha) values_[n].channels[channels - 1] = values_[node.inputs[0]].channels[channels - 1];
    const int passes = op.channelwise ? channels - (alpha ? 1 : 0) : 1;
    for (int pass = 0; pass < passes; ++pass)
      for_rows(values_[n].extent, [&](std::int64_t y, std::int64_t z) { pixel_row(node, op, n, pass, y, z); });
  }

  void pixel_row(const GraphNode& node, const PixelOp& op, int n, int pass, std::int64_t y, std::int64_t z) {
    std::vector<std::vector<const void*>> in(node.inputs.size());
    std::vector<const void* const*> in_rows;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      Planes& planes = values_[node.inputs[k]];
      if (op.channelwise)
        in[k].push_back(planes.row(pass, y, z));
      else
        for (std::size_t c = 0; c < planes.channels.size(); ++c) in[k].push_back(planes.row(static_cast<int>(c), y, z));
      in_rows.push_back(in[k].data());
    }
    std::vector<void*> out;
    if (op.channelwise)
      out.push_back(values_[n].row(pass, y, z));
    else
      for (std::size_t c = 0; c < values_[n].channels.size(); ++c)
        out.push_back(values_[n].row(static_cast<int>(c), y, z));
    const double* scalars = node.scalars ? scalars_[*node.scalars].data() : nullptr;
    op.cpu({in_rows.data(), out.data(), values_[n].extent.width, static_cast<int>(in[0].size()), 0, y, z,
            values_[n].extent, scalars});
  }

  void apply(const GraphNode& node, const WindowOp& op, int n) {
    Planes& in = values_[node.inputs[0]];
    Planes& out = values_[n];
    for (int c = 0; c < node.value.desc.channels; ++c) {
      if (node.value.desc.alpha && c == node.value.desc.channels - 1 && !op.filters_alpha) {
        for_rows(in.extent, [&](std::int64_t y, std::int64_t z) { copy_row(in, out, c, y, z); });
        continue;
      }
      visit_compute(in.compute, [&](auto t) { filter_plane<decltype(t)>(in, out, c, op); });
    }
  }

  void copy_row(Planes& in, Planes& out, int c, std::int64_t y, std::int64_t z) {
    rows::cast(in.row(c, y, z), in.compute, out.row(c, y, z), dtype_of(out.compute), in.extent.width, nullptr);
  }

  template <class T>
  void filter_plane(Planes& in, Planes& out, int c, const WindowOp& op) {
    const Extent& e = in.extent;
    const std::int64_t pitch = e.width + op.halo.low[0] + op.halo.high[0];
    const std::int64_t rows = e.height + op.halo.low[1] + op.halo.high[1];
    const std::int64_t planes = e.depth + op.halo.low[2] + op.halo.high[2];
    std::vector<T> padded(pitch * rows * planes);
    const T* samples = reinterpret_cast<const T*>(in.channels[c].data());
    std::size_t i = 0;
    for (std::int64_t z = -op.halo.low[2]; z < e.depth + op.halo.high[2]; ++z)
      for (std::int64_t y = -op.halo.low[1]; y < e.height + op.halo.high[1]; ++y)
        for (std::int64_t x = -op.halo.low[0]; x < e.width + op.halo.high[0]; ++x) {
          const std::int64_t xs = border_index(x, e.width, op.border), ys = border_index(y, e.height, op.border),
                             zs = border_index(z, e.depth, op.border);
          padded[i++] = xs < 0 || ys < 0 || zs < 0 ? T(op.constant) : samples[(zs * e.height + ys) * e.width + xs];
        }
    const T* origin = padded.data() + (op.halo.low[2] * rows + op.halo.low[1]) * pitch + op.halo.low[0];
    op.cpu(
        {origin, pitch, pitch * rows, out.channels[c].data(), e.width, e.width * e.height, e.width, e.height, e.depth});
  }

  void apply(const GraphNode& node, const CastOp& op, int n) {
    Planes& in = values_[node.inputs[0]];
    for (int c = 0; c < node.value.desc.channels; ++c)
      for_rows(in.extent, [&](std::int64_t y, std::int64_t z) {
        rows::cast(in.row(c, y, z), in.compute, values_[n].row(c, y, z), op.to, in.extent.width, &counts_);
      });
  }

  void apply(const GraphNode& node, const ViewOp& op, int n) {
    Planes& in = values_[node.inputs[0]];
    Planes& out = values_[n];
    const std::size_t size = in.sample_size();
    for (int c = 0; c < node.value.desc.channels; ++c)
      for_rows(out.extent, [&](std::int64_t y, std::int64_t z) {
        const std::byte* from = in.row(c, op.offset[1] + op.step[1] * y, op.offset[2] + op.step[2] * z);
        std::byte* to = out.row(c, y, z);
        for (std::int64_t x = 0; x < out.extent.width; ++x)
          std::memcpy(to + x * size, from + (op.offset[0] + op.step[0] * x) * size, size);
      });
  }

  void apply(const GraphNode& node, const ReduceOp& op, int n) {
    const Image image = stored(node.inputs[0]);
    const ValueInfo& info = graph_.nodes[node.inputs[0]].value;
    scalars_[n] = reduce_image(op, std::as_const(image).view(), info.colours(), info.whole);
  }

  Image stored(int value) {
    const ValueInfo& info = graph_.nodes[value].value;
    ImageDesc desc = info.desc;
    desc.dtype = info.storage();
    Image image(desc);
    const ImageView view = image.view();
    for (int c = 0; c < desc.channels; ++c)
      for_rows(desc.extent, [&](std::int64_t y, std::int64_t z) {
        rows::store(values_[value].row(c, y, z), dtype_of(info.compute),
                    view.data + view.offset(0, y, z, c) * size_of(desc.dtype), desc.dtype, view.stride_x,
                    desc.extent.width);
      });
    return image;
  }

  const Graph& graph_;
  const std::vector<bool>& live_;
  std::span<const Image* const> inputs_;
  std::vector<Planes> values_;
  std::vector<std::vector<double>> scalars_;
  Counts counts_;
};

class SimpleExecutor : public Executor {
 public:
  std::string name() const override { return "simple"; }
  Machine machine() const override { return Machine::cpu(); }
  RunResult run(const Plan& plan, std::span<const Image* const> inputs) override {
    const auto start = std::chrono::steady_clock::now();
    RunResult result = Run(plan, inputs).go();
    result.compute_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }
};

}  // namespace

std::unique_ptr<Executor> make_simple_executor() { return std::make_unique<SimpleExecutor>(); }

}  // namespace imgpipe
