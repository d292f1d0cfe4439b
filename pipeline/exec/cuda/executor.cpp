#include "pipeline/exec/cuda/executor.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "filters/base/group.cuh"
#include "pipeline/exec/cuda/reductions.h"

namespace imgpipe {
namespace {

using namespace cuda;

/// n / divisor = (n * multiplier >> 32) >> shift for n < 2^31 (Granlund and Montgomery 1994).
Divider divider(u32 divisor) {
  if (divisor <= 1) return {1, 0, 0};
  const int bits = 31 + std::bit_width(divisor - 1);
  return {divisor, static_cast<u32>(((u64(1) << bits) + divisor - 1) / divisor), static_cast<u32>(bits - 32)};
}

std::int64_t aligned(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

/// A stored value in device memory.
struct StoredImage {
  Address data = 0;
  ImageDesc desc;  ///< with the storage dtype
};

/// Appends members of a kernel's argument struct, each on a 16-byte boundary.
class ArgumentBytes {
 public:
  void add(const void* bytes, std::size_t size) {
    bytes_.resize(aligned(static_cast<std::int64_t>(bytes_.size()), 16));
    const auto* from = static_cast<const std::byte*>(bytes);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  template <class T>
  void add(const T& value) {
    add(&value, sizeof(T));
  }
  std::span<const std::byte> finish() {
    bytes_.resize(aligned(static_cast<std::int64_t>(bytes_.size()), 16));
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

class ImageRun {
 public:
  ImageRun(Device& device, const Plan& plan, std::span<const Image* const> inputs, int threads)
      : device_(device),
        plan_(plan),
        graph_(plan.graph),
        inputs_(inputs),
        threads_(threads),
        job_(device.job()),
        multiprocessors_(std::max(1, device.info().multiprocessors)) {}

  RunResult go() {
    upload_inputs();
    lay_out_results();
    allocate_results();
    compile_groups();
    run_groups();
    return download();
  }

  ResidentTimes time(const ResidentOptions& options) {
    lay_out_results();
    compile_groups();
    const int runs = options.warm_up + options.repeats;
    const std::vector<Buffers> sets = buffer_sets(runs);
    ResidentTimes times;
    for (const Group& group : plan_.groups)
      if (is_launched(group)) times.kernels.push_back(device_.residency(*kernels_.at(&group).second));
    for (int k = 0; k < runs; ++k) {
      use(sets[k % sets.size()]);
      start_numbers();
      const double s = job_->time([&] { run_groups(); });
      if (k >= options.warm_up) times.seconds.push_back(s);
    }
    return times;
  }

 private:
  /// Inputs and results of one run.
  struct Buffers {
    std::map<int, StoredImage> inputs;
    std::map<int, Address> stored_results;
    Address results;
  };

  void use(const Buffers& set) {
    stored_ = set.inputs;
    stored_results_ = set.stored_results;
    results_ = set.results;
  }

  /// Between two runs with one set, others go over four times the L2. Where each run has a set of its own, what the
  /// uploads left in the L2 is driven out.
  std::vector<Buffers> buffer_sets(int runs) {
    const std::int64_t l2 = device_.info().l2;
    std::vector<Buffers> sets;
    std::int64_t others = 0;
    for (; static_cast<int>(sets.size()) < runs && (sets.empty() || others < 4 * l2);) {
      if (!sets.empty()) {
        others += results_bytes_;
        for (const auto& [value, image] : stored_) others += image.desc.bytes();
      }
      upload_inputs();
      allocate_results();
      sets.push_back({stored_, stored_results_, results_});
    }
    if (l2 > 0) {
      const Address other = job_->allocate(2 * l2);
      job_->fill(other, 0, 2 * l2);
      job_->release(other);
    }
    return sets;
  }

  const GraphNode& node(int n) const { return graph_.nodes[n]; }

  void run_groups() {
    for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
      run_group(plan_.groups[g]);
      release_unused(g);
    }
  }

  ImageDesc storage_desc(int value) const {
    ImageDesc desc = node(value).value.desc;
    desc.dtype = node(value).value.storage();
    return desc;
  }

  void upload_inputs() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto* input = std::get_if<InputOp>(&graph_.nodes[n].op);
      if (!input || !plan_.live[n]) continue;
      const Image& image = *inputs_[input->index];
      const Address address = job_->allocate(image.desc().bytes());
      job_->upload(address, image.data(), image.desc().bytes());
      stored_[static_cast<int>(n)] = {address, image.desc()};
    }
  }

  /// One block of device memory holds all that comes back: results, counts and the scalars of reductions.
  void lay_out_results() {
    std::int64_t bytes = 0;
    for (const auto& result : graph_.results) {
      if (result_offset_.count(result.value)) continue;
      result_offset_[result.value] = bytes;
      gaps_.emplace_back(bytes + storage_desc(result.value).bytes(), 0);
      bytes += aligned(storage_desc(result.value).bytes(), 256);
      gaps_.back().second = bytes;
    }
    numbers_offset_ = bytes;
    bytes += 16;
    for (const Group& group : plan_.groups)
      for (int r : group.reduces) {
        scalars_offset_[r] = bytes;
        bytes += 8 * std::max(2, std::get<ReduceOp>(node(r).op).scalars);
      }
    results_bytes_ = bytes;
  }

  void allocate_results() {
    results_ = job_->allocate(results_bytes_);
    for (const auto& [value, offset] : result_offset_) stored_results_[value] = results_ + offset;
    for (const auto& [begin, end] : gaps_)
      if (end > begin) job_->fill(results_ + begin, 0, end - begin);
    start_numbers();
  }

  void start_numbers() {
    job_->fill(results_ + numbers_offset_, 0, results_bytes_ - numbers_offset_);
    for (const auto& [r, offset] : scalars_offset_)
      if (rides(r)) job_->fill(results_ + offset, 0xff, 8);
  }

  bool rides(int reduce) const { return std::get<ReduceOp>(node(reduce).op).kind == ReduceOp::Kind::extrema; }

  void run_group(const Group& group) {
    for (int v : group.stores) {
      const ImageDesc desc = storage_desc(v);
      const auto result = stored_results_.find(v);
      targets_[v] = {result != stored_results_.end() ? result->second : job_->allocate(desc.bytes()), desc};
      if (!std::holds_alternative<ViewOp>(node(v).op) && !std::holds_alternative<InputOp>(node(v).op))
        stored_[v] = targets_[v];
    }
    if (is_launched(group)) launch_group(group);
    for (int r : group.reduces)
      if (!rides(r)) reduce(r);
  }

  void reduce(int r) {
    const int value = node(r).inputs[0];
    const ValueInfo& info = node(value).value;
    const View view = view_of(value);
    launch_reduction(
        device_, *job_, std::get<ReduceOp>(node(r).op),
        {reinterpret_cast<Address>(view.data), view.stride_x, view.stride_y, view.stride_z, info.desc.extent,
         stored_.at(source_of(graph_, value).value).desc.dtype, info.colours(), info.whole},
        results_ + scalars_offset_.at(r));
  }

  View view_of(int value) const {
    const Source source = source_of(graph_, value);
    const StoredImage& image = stored_.at(source.value);
    const std::int64_t sx = image.desc.channels, sy = sx * image.desc.extent.width, sz = sy * image.desc.extent.height;
    const auto& [offset, step] = source.view;
    const std::int64_t first = offset[0] * sx + offset[1] * sy + offset[2] * sz;
    const auto size = static_cast<std::int64_t>(size_of(image.desc.dtype));
    return view_at(image.data + first * size, sx * step[0], sy * step[1], sz * step[2], size);
  }

  View target_view(int value) const {
    const StoredImage& image = targets_.at(value);
    const std::int64_t sx = image.desc.channels, sy = sx * image.desc.extent.width, sz = sy * image.desc.extent.height;
    return view_at(image.data, sx, sy, sz, static_cast<std::int64_t>(size_of(image.desc.dtype)));
  }

  static View view_at(Address data, std::int64_t stride_x, std::int64_t stride_y, std::int64_t stride_z,
                      std::int64_t size) {
    if (std::abs(stride_y) > std::numeric_limits<std::int32_t>::max())
      throw OutOfDeviceMemory("rows of 2^31 samples or more are too long for the device's code");
    return quads({reinterpret_cast<void*>(data), stride_z, static_cast<std::int32_t>(stride_x),
                  static_cast<std::int32_t>(stride_y), 0},
                 size);
  }

  static View quads(View view, std::int64_t size) {
    view.quads = view.stride_x == 1 && reinterpret_cast<Address>(view.data) % (4 * size) == 0 &&
                 view.stride_y % 4 == 0 && view.stride_z % 4 == 0;
    return view;
  }

  /// All images of the group are dense and seen as they lie, so rows can be joined.
  bool is_flat(const Group& group) const {
    return std::all_of(group.loads.begin(), group.loads.end(), [&](int v) {
      const Source source = source_of(graph_, v);
      return source.view.step == std::array<std::int64_t, 3>{1, 1, 1} &&
             node(source.value).value.desc.extent == group.extent;
    });
  }

  /// Side by side, since a compile takes a good part of a second. Isolated: a thread that waits for another's compile
  /// must not take up another image meanwhile.
  void compile_groups() {
    std::vector<const Group*> launched;
    for (const Group& group : plan_.groups)
      if (is_launched(group)) launched.push_back(&group);
    std::vector<std::pair<KernelSource, std::shared_ptr<Kernel>>> compiled(launched.size());
    const auto compile = [&](std::size_t i) {
      compiled[i].first = generate(graph_, *launched[i], is_flat(*launched[i]), threads_);
      compiled[i].second = device_.kernel(compiled[i].first);
    };
    tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::size_t(0), launched.size(), compile); });
    for (std::size_t i = 0; i < launched.size(); ++i) kernels_.emplace(launched[i], std::move(compiled[i]));
  }

  bool is_launched(const Group& group) const {
    return !group.stores.empty() ||
           std::any_of(group.reduces.begin(), group.reduces.end(), [&](int r) { return rides(r); });
  }

  View joined(View view, const KernelSource& kernel, DType dtype) const {
    if (!kernel.flat) return view;
    view.stride_x = kernel.merged_channels ? 1 : view.stride_x;
    view.stride_y = view.stride_z = 0;
    return quads(view, static_cast<std::int64_t>(size_of(dtype)));
  }

  Frame frame_of(const Group& group, const KernelSource& kernel) const {
    Frame frame{};
    frame.width = group.extent.width;
    frame.height = group.extent.height;
    frame.depth = group.extent.depth;
    if (kernel.flat) {
      const int channels = kernel.merged_channels ? node(group.loads[0]).value.desc.channels : 1;
      frame.width = group.extent.pixels() * channels;
      frame.height = frame.depth = 1;
    }
    const auto tiles = [](std::int64_t n, int size) { return (n + size - 1) / size; };
    frame.tiles_x = tiles(frame.width, kernel.tile[0]);
    frame.tiles_y = tiles(frame.height, kernel.tile[1]);
    frame.tiles = frame.tiles_x * frame.tiles_y * tiles(frame.depth, kernel.tile[2]);
    constexpr std::int64_t long_side = 1 << 30;
    frame.small =
        frame.width < long_side && frame.height < long_side && frame.depth < long_side && frame.tiles < 2 * long_side;
    if (frame.small) {
      frame.across = divider(static_cast<u32>(frame.tiles_x));
      frame.down = divider(static_cast<u32>(frame.tiles_y));
    }
    frame.counts = reinterpret_cast<u64*>(results_ + numbers_offset_);
    return frame;
  }

  void launch_group(const Group& group) {
    const auto& [source, kernel] = kernels_.at(&group);
    Frame frame = frame_of(group, source);
    std::int64_t blocks = std::min<std::int64_t>(frame.tiles, 0x7fffffff);
    Address scratch = 0;
    // Blocks that loop spread what a thread does before its first pixel over many.
    if (source.flat || group.tile[0] == 0)
      blocks = std::min<std::int64_t>(blocks, 20 * default_threads / threads_ * multiprocessors_);
    if (source.scratch_bytes > 0) {
      blocks = std::min<std::int64_t>(blocks, 2 * multiprocessors_);
      frame.scratch_bytes = aligned(source.scratch_bytes, 256);
      scratch = job_->allocate(blocks * frame.scratch_bytes);
      frame.scratch = reinterpret_cast<char*>(scratch);
    }
    ArgumentBytes bytes;
    for (const Argument& argument : source.arguments) add_argument(bytes, argument, frame, source);
    job_->launch(kernel, blocks, bytes.finish());
    if (scratch) job_->release(scratch);
  }

  void add_argument(ArgumentBytes& bytes, const Argument& argument, const Frame& frame, const KernelSource& kernel) {
    const int n = argument.node;
    switch (argument.kind) {
      case Argument::Kind::frame:
        return bytes.add(frame);
      case Argument::Kind::load:
        return bytes.add(joined(view_of(n), kernel, stored_.at(source_of(graph_, n).value).desc.dtype));
      case Argument::Kind::store:
        return bytes.add(joined(target_view(n), kernel, targets_.at(n).desc.dtype));
      case Argument::Kind::edge:
        return add_edge(bytes, n);
      case Argument::Kind::op: {
        const auto* pixel = std::get_if<PixelOp>(&node(n).op);
        const auto& blob = pixel ? pixel->device.blob : std::get<WindowOp>(node(n).op).device.blob;
        return bytes.add(blob.data(), blob.size());
      }
      case Argument::Kind::scalars:
      case Argument::Kind::extrema:
        return bytes.add(results_ + scalars_offset_.at(n));
    }
  }

  void add_edge(ArgumentBytes& bytes, int n) {
    const auto& op = std::get<WindowOp>(node(n).op);
    visit_compute(node(node(n).inputs[0]).value.compute, [&](auto t) {
      bytes.add(Edge<decltype(t)>{static_cast<int>(op.border), static_cast<decltype(t)>(op.constant)});
    });
  }

  void release_unused(std::size_t done) {
    for (auto it = stored_.begin(); it != stored_.end();) {
      // Inputs may be under way still: their memory is for nothing else until the job ends.
      bool needed = stored_results_.count(it->first) > 0 || std::holds_alternative<InputOp>(node(it->first).op);
      for (std::size_t g = done + 1; g < plan_.groups.size() && !needed; ++g)
        for (int v : plan_.groups[g].loads) needed |= source_of(graph_, v).value == it->first;
      if (needed) {
        ++it;
      } else {
        job_->release(it->second.data);
        it = stored_.erase(it);
      }
    }
  }

  RunResult download() {
    RunResult result;
    std::vector<std::byte> numbers;
    const bool one_image = graph_.results.size() == 1;
    std::vector<std::byte> block(one_image ? 0 : results_bytes_);
    Image only;
    if (one_image) {
      // The image's own buffer takes the numbers behind its samples, so that one copy brings all.
      ImageDesc desc = storage_desc(graph_.results[0].value);
      only = Image(desc, results_bytes_ - desc.bytes());
      job_->download(only.data(), results_, results_bytes_);
    } else {
      job_->download(block.data(), results_, results_bytes_);
    }
    job_->wait();
    const std::byte* all = one_image ? only.data() : block.data();
    std::memcpy(&result.counts.clipped, all + numbers_offset_, 8);
    std::memcpy(&result.counts.nans, all + numbers_offset_ + 8, 8);
    for (const auto& report : graph_.reports) result.reports.push_back(scalars_of(report.reduce, all));
    if (one_image)
      result.images.push_back(std::move(only));
    else
      for (const auto& r : graph_.results) {
        Image image(storage_desc(r.value));
        std::memcpy(image.data(), all + result_offset_.at(r.value), static_cast<std::size_t>(image.desc().bytes()));
        result.images.push_back(std::move(image));
      }
    result.upload_seconds = job_->upload_seconds();
    result.compute_seconds = job_->compute_seconds();
    result.download_seconds = job_->download_seconds();
    return result;
  }

  std::vector<double> scalars_of(int reduce, const std::byte* all) const {
    const auto& op = std::get<ReduceOp>(node(reduce).op);
    std::vector<double> scalars(std::max(2, op.scalars));
    if (rides(reduce)) {
      u64 keys[2];
      std::memcpy(keys, all + scalars_offset_.at(reduce), 16);
      read_extrema(keys, scalars.data());
    } else {
      std::memcpy(scalars.data(), all + scalars_offset_.at(reduce), 8 * scalars.size());
    }
    scalars.resize(op.scalars);
    return scalars;
  }

  Device& device_;
  const Plan& plan_;
  const Graph& graph_;
  std::span<const Image* const> inputs_;
  const int threads_;  // of a block
  std::unique_ptr<Job> job_;
  int multiprocessors_;
  std::map<int, StoredImage> stored_;   // inputs and computed values still in memory
  std::map<int, StoredImage> targets_;  // where a group stores its values
  std::map<int, std::int64_t> result_offset_, scalars_offset_;
  std::map<int, Address> stored_results_;
  std::map<const Group*, std::pair<KernelSource, std::shared_ptr<Kernel>>> kernels_;
  std::vector<std::pair<std::int64_t, std::int64_t>> gaps_;  // between results: copied back, so they are given a value
  Address results_ = 0;
  std::int64_t results_bytes_ = 0, numbers_offset_ = 0;
};

class CudaExecutor : public Executor {
 public:
  CudaExecutor(std::shared_ptr<Device> device, std::shared_ptr<Executor> fallback, int threads)
      : device_(std::move(device)), fallback_(std::move(fallback)), threads_(threads) {}
  std::string name() const override { return "cuda"; }
  Machine machine() const override { return Machine::gpu(); }

  RunResult run(const Plan& plan, std::span<const Image* const> inputs) override {
    try {
      return ImageRun(*device_, plan, inputs, threads_).go();
    } catch (const OutOfDeviceMemory& error) {
      RunResult result = fallback_->run(plan, inputs);
      result.notes.push_back(std::string(error.what()) + ": this image ran on the CPU");
      return result;
    }
  }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<Executor> fallback_;
  int threads_;
};

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(std::shared_ptr<cuda::Device> device, std::shared_ptr<Executor> fallback,
                                             int threads) {
  return std::make_unique<CudaExecutor>(std::move(device), std::move(fallback), threads);
}

ResidentTimes time_resident(cuda::Device& device, const Plan& plan, std::span<const Image* const> inputs,
                            const ResidentOptions& options) {
  return ImageRun(device, plan, inputs, options.threads).time(options);
}

}  // namespace imgpipe
