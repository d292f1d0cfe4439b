#include "pipeline/exec/cuda/reductions.h"

#include <fmt/format.h>

#include <algorithm>

#include "filters/base/reduce.cuh"

namespace imgpipe::cuda {
namespace {

const char* c_name(DType type) {
  constexpr const char* names[] = {"u8", "i8", "u16", "i16", "u32", "i32", "float", "double"};
  return names[static_cast<int>(type)];
}

KernelSource kernel_of(const std::string& function, const std::string& header, std::int64_t shared_bytes) {
  KernelSource kernel;
  const std::string body = fmt::format(
      "using Args = ReduceArgs;\ntemplate <class Block>\nIMGPIPE_FN void body(const Args& a, const Block& block, char* "
      "fast) "
      "{{ {}(a, block, fast); }}\n",
      function);
  std::uint64_t hash = 14695981039346656037ull;
  for (unsigned char c : body + header + std::to_string(shared_bytes)) hash = (hash ^ c) * 1099511628211ull;
  kernel.name = fmt::format("reduce_{:016x}", hash);
  const std::string extra = header.empty() ? "" : fmt::format("#include \"{}\"\n", header);
  kernel.text = fmt::format(
      "#include \"filters/base/reduce.cuh\"\n{}\nnamespace imgpipe {{\nnamespace {} {{\n{}\nIMGPIPE_KERNEL({}, Args, "
      "256, 1)\n}}\n}}\n",
      extra, kernel.name, body, kernel.name);
  kernel.arguments = {{Argument::Kind::frame, 0}};
  kernel.shared_bytes = shared_bytes;
  return kernel;
}

class Reduction {
 public:
  Reduction(Device& device, Job& job, const ReduceOp& op, const ReducedImage& image, Address scalars)
      : device_(device), job_(job), op_(op), sample_(c_name(image.dtype)), dtype_(image.dtype) {
    a_ = {};
    a_.view = {reinterpret_cast<void*>(image.data), image.stride_z, image.stride_x, image.stride_y, 0};
    a_.width = image.extent.width;
    a_.height = image.extent.height;
    a_.depth = image.extent.depth;
    a_.colours = image.colours;
    a_.every_value = image.whole && size_of(image.dtype) <= 2;
    a_.first_value = is_float(image.dtype) ? 0 : nominal_range(image.dtype).black;
    a_.scalars = reinterpret_cast<double*>(scalars);
    a_.keys = pointer<u64>(2);
    a_.counts = pointer<u64>(2);
    job_.fill(reinterpret_cast<Address>(a_.keys), 0xff, 8);
    job_.fill(reinterpret_cast<Address>(a_.keys + 1), 0, 8);
    job_.fill(reinterpret_cast<Address>(a_.counts), 0, 16);
    const std::int64_t samples = image.extent.pixels() * image.colours;
    blocks_ = std::clamp<std::int64_t>(samples / 4096, 1, 2048);
  }

  void run() {
    const bool every_value = op_.kind == ReduceOp::Kind::histogram && a_.every_value;
    if (!every_value) wide(fmt::format("reduce_extrema<{}>", sample_), 0);
    if (op_.kind == ReduceOp::Kind::histogram)
      histogram();
    else if (op_.kind == ReduceOp::Kind::moments)
      moments();
    else if (op_.kind == ReduceOp::Kind::quantiles)
      quantiles();
    for (const Address block : blocks_taken_) job_.release(block);
  }

 private:
  template <class T>
  T* pointer(std::int64_t count) {
    blocks_taken_.push_back(job_.allocate(count * static_cast<std::int64_t>(sizeof(T))));
    return reinterpret_cast<T*>(blocks_taken_.back());
  }

  void launch(const std::string& function, std::int64_t blocks, std::int64_t shared, const std::string& header = "") {
    const auto kernel = device_.kernel(kernel_of(function, header, shared));
    job_.launch(kernel, blocks, std::as_bytes(std::span(&a_, 1)));
  }
  void wide(const std::string& function, std::int64_t shared) { launch(function, blocks_, shared); }
  void single(const std::string& function, const std::string& header = "") { launch(function, 1, 0, header); }

  void histogram() {
    a_.bins = !a_.every_value ? op_.bins : size_of(dtype_) == 1 ? 256 : 65536;
    a_.histogram = pointer<u64>(a_.bins);
    job_.fill(reinterpret_cast<Address>(a_.histogram), 0, 8 * a_.bins);
    wide(fmt::format("reduce_histogram<{}>", sample_), a_.bins <= 4096 ? 4 * a_.bins : 0);
    single(fmt::format("finish_histogram<{}>", op_.finish_device.type), op_.finish_device.header);
  }

  void moments() {
    a_.sums = pointer<double>((a_.width * a_.height * a_.depth * a_.colours + 4095) / 4096);
    for (a_.squares = 0; a_.squares < 2; ++a_.squares) {
      wide(fmt::format("reduce_sums<{}>", sample_), 256 * 8);
      single("finish_sums");
    }
  }

  void quantiles() {
    a_.targets = 2 * static_cast<int>(op_.fractions.size());
    a_.ranks = pointer<u64>(a_.targets);
    a_.prefixes = pointer<u64>(a_.targets);
    std::copy(op_.fractions.begin(), op_.fractions.end(), a_.fractions);
    a_.histogram = pointer<u64>(256 * a_.targets);
    job_.fill(reinterpret_cast<Address>(a_.histogram), 0, 8 * 256 * a_.targets);
    single("select_start");
    for (a_.shift = 8 * static_cast<int>(size_of(dtype_)) - 8; a_.shift >= 0; a_.shift -= 8) {
      wide(fmt::format("select_count<{}>", sample_), 4 * 256 * a_.targets);
      single("select_step");
    }
    single(fmt::format("select_finish<{}>", sample_));
  }

  Device& device_;
  Job& job_;
  const ReduceOp& op_;
  std::string sample_;
  DType dtype_;
  ReduceArgs a_;
  std::int64_t blocks_;
  std::vector<Address> blocks_taken_;
};

}  // namespace

void launch_reduction(Device& device, Job& job, const ReduceOp& op, const ReducedImage& image, Address scalars) {
  Reduction(device, job, op, image, scalars).run();
}

}  // namespace imgpipe::cuda
