// The chain of one run as a graph of primitive operations on image values. Filters build it through `Builder`;
// the planner cuts it into groups and the executors run it. Nothing here knows a filter.
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "filters/base/border.h"
#include "filters/base/tile.h"
#include "io/image/image.h"

namespace imgpipe {

/// The type that samples are computed in: float32 for 8/16-bit and float32 images, float64 otherwise.
enum class Compute : std::uint8_t { f32, f64 };
Compute compute_type(DType type);
inline DType dtype_of(Compute c) { return c == Compute::f32 ? DType::f32 : DType::f64; }

/// Calls `f(T{})` with float or double.
template <class F>
decltype(auto) visit_compute(Compute compute, F&& f) {
  return compute == Compute::f32 ? f(float{}) : f(double{});
}

/// What a value of the chain is. `desc.dtype` is what it would be written as now.
struct ValueInfo {
  ImageDesc desc;
  Compute compute = Compute::f32;
  bool whole = false;  ///< every sample is a value of desc.dtype, so it can be stored as such without loss
  DType storage() const { return whole ? desc.dtype : dtype_of(compute); }
  int colours() const { return desc.channels - (desc.alpha ? 1 : 0); }
};

/// How far a window reaches: it reads x - low[0] … x + high[0], and so on for y and z.
struct Halo {
  std::array<int, 3> low{0, 0, 0};
  std::array<int, 3> high{0, 0, 0};
  static Halo uniform(int r, bool volume) { return {{r, r, volume ? r : 0}, {r, r, volume ? r : 0}}; }
  static Halo along(int axis, int low, int high);
  Halo operator+(const Halo& other) const;
  Halo max(const Halo& other) const;
  bool empty() const { return *this == Halo{}; }
  bool operator==(const Halo&) const = default;
};

/// A device functor by name and value. `header` defines `type`, a trivially copyable struct whose bytes are `blob`.
struct DeviceCode {
  std::string header;  ///< "filters/pixel/linear/linear.cuh"
  std::string type;    ///< "linear::Op<float>"
  std::vector<std::byte> blob;
  std::string source;  ///< defines `type` for code made at run time; placed in a namespace within imgpipe
};
template <class Op>
DeviceCode device_code(std::string header, std::string type, const Op& op) {
  static_assert(std::is_trivially_copyable_v<Op>);
  DeviceCode code{std::move(header), std::move(type), std::vector<std::byte>(sizeof(Op)), {}};
  std::memcpy(code.blob.data(), &op, sizeof(Op));
  return code;
}
/// For functors that are one array whose length is part of the type, such as taps.
template <class T>
DeviceCode device_array(std::string header, std::string type, std::span<const T> values) {
  DeviceCode code{std::move(header), std::move(type), std::vector<std::byte>(values.size_bytes()), {}};
  std::memcpy(code.blob.data(), values.data(), values.size_bytes());
  return code;
}
/// "float" or "double": for type names in device source.
const char* c_name(Compute compute);

/// Which image of the run: 0 is the input itself, others are files named by `with`.
struct InputOp {
  int index = 0;
};

/// A per-pixel operation T… → T in the compute type of its first input.
struct PixelOp {
  bool channelwise = true;  ///< sees one channel at a time and leaves alpha alone; otherwise all channels at once
  bool reads_position = false;
  std::function<void(const PixelRow&)> cpu;
  DeviceCode device;
  double flops = 1;  ///< arithmetic operations per sample, for the cost model
};

/// A neighbourhood operation on one channel at a time.
struct WindowOp {
  /// How far the window reaches. Mirrors at the image's edge take their pixels from as far inside the image as the
  /// window goes outside: the builder makes the halo of mirrored borders symmetric.
  Halo halo;
  Border border = Border::reflect101;
  double constant = 0;
  bool filters_alpha = false;  ///< false: alpha is copied through
  std::function<void(const Window&)> cpu;
  /// The same on samples of the input's own dtype, for windows that only choose among whole values of 8 or 16 bits.
  std::function<void(const Window&)> cpu_native;
  DeviceCode device;
  int resident = 4;  ///< blocks of 256 threads on a multiprocessor that leave the device code enough registers
  double flops = 1;
};

/// Sets the CPU code of a window that chooses among its samples: `make(T{})` for the compute type, and for the image's
/// own type where `whole` says that the result has nothing but its values.
template <class Make>
void set_choosing_code(WindowOp& op, const ValueInfo& info, bool whole, Make&& make) {
  visit_compute(info.compute, [&](auto t) { op.cpu = make(t); });
  if (!whole || !info.whole) return;
  visit_dtype(info.desc.dtype, [&](auto t) {
    if constexpr (sizeof(t) <= 2) op.cpu_native = make(t);
  });
}

/// Rounds half to even and saturates into an integer type; into a float type, rounds to it. NaN becomes 0 in integers.
struct CastOp {
  DType to = DType::u8;
};

/// Another look at the same samples: out(i) = in(offset + step * i) on each axis. Costs nothing.
struct ViewOp {
  std::array<std::int64_t, 3> offset{0, 0, 0};
  std::array<std::int64_t, 3> step{1, 1, 1};  ///< +1 or -1
};

/// Numbers over all colour samples of an image (alpha and NaN left out), as double scalars for later pixel operations.
struct ReduceOp {
  enum class Kind : std::uint8_t {
    extrema,    ///< [min, max]; NaN, NaN when there is no number
    quantiles,  ///< one for each of `fractions` (at most 8), linear between order statistics
    moments,    ///< [count, NaN count, min, max, mean, standard deviation (of the population)]
    histogram   ///< counts handed to `finish`
  };
  Kind kind = Kind::extrema;
  std::vector<double> fractions;
  /// Bins of a histogram: one for each value of 8- and 16-bit whole images, otherwise this many over [min, max].
  int bins = 65536;
  int scalars = 2;
  /// Counts of a histogram to scalars. Bin k holds values near low + k * width (exactly, for whole images).
  std::function<void(std::span<const std::uint64_t> counts, double low, double width, double* scalars)> finish;
  DeviceCode finish_device;
};

using Op = std::variant<InputOp, PixelOp, WindowOp, CastOp, ViewOp, ReduceOp>;

/// One operation. Its result, an image value or (for ReduceOp) scalars, is known by the node's number.
struct GraphNode {
  Op op;
  std::vector<int> inputs;     ///< image values, by node number
  std::optional<int> scalars;  ///< the ReduceOp node whose scalars a PixelOp reads
  ValueInfo value;             ///< of the result; of the reduced image for a ReduceOp
  int step = 0;                ///< number of the pipeline step, from 1; 0 for inputs and the final cast
  std::string label;           ///< "gaussian", for people
};

struct Graph {
  struct Result {
    std::string name;
    int value;
  };
  /// Scalars that go to the run's report under a step's name, or that a warning is made of.
  struct Report {
    int step;
    std::string label;
    int reduce;
    std::vector<std::string> names;                               ///< of the scalars reported
    std::function<std::string(std::span<const double>)> warning;  ///< what to warn of, "" when all is well
  };
  std::vector<GraphNode> nodes;  ///< in an order in which every node follows its inputs
  std::vector<Result> results;
  std::vector<Report> reports;
};

/// An image value under construction.
struct Value {
  int id = -1;
};
/// Scalars under construction.
struct Scalars {
  int id = -1;
};

/// Appends operations for one step at a time.
class Builder {
 public:
  struct StepContext {
    int number = 0;
    std::string filter;
    std::optional<Border> border;  ///< as given by the step
    std::optional<double> constant;
    Border default_border = Border::reflect101;
    double default_constant = 0;
  };

  Value input(const ImageDesc& desc, int index);
  void begin_step(StepContext context) { context_ = std::move(context); }
  const StepContext& context() const { return context_; }
  /// The border of the current step: its own, else the file's.
  Border border() const { return context_.border.value_or(context_.default_border); }
  double constant() const { return context_.constant.value_or(context_.default_constant); }

  const ValueInfo& info(Value value) const { return graph_.nodes[value.id].value; }
  Compute compute(Value value) const { return info(value).compute; }

  /// All inputs have the first one's compute type afterwards. The result keeps the first input's description
  /// unless changed by `retype`; `whole` says that the operation yields values of the dtype only.
  Value pixel(std::vector<Value> inputs, PixelOp op, bool whole = false, std::optional<Scalars> scalars = {});
  /// As above with another number of channels in the result: never channelwise.
  Value pixel_to(std::vector<Value> inputs, PixelOp op, int channels, bool alpha);
  /// `compute` other than the input's when the window function changes it.
  Value window(Value input, WindowOp op, bool whole = false, std::optional<Compute> compute = {});
  /// Rounds and saturates into another dtype; alpha is mapped to its white.
  Value cast(Value input, DType to);
  Value view(Value input, const Extent& extent, const Geometry& geometry, ViewOp op);
  Scalars reduce(Value input, ReduceOp op);
  /// The same colours under another dtype of the same compute type; alpha is mapped to its white.
  Value retype(Value input, DType to);
  /// The same numbers in another compute type (float64 to float32 rounds).
  Value with_compute(Value input, Compute compute);
  void report(Scalars scalars, std::vector<std::string> names);
  void warn(Scalars scalars, std::function<std::string(std::span<const double>)> warning);
  void result(std::string name, Value value);

  Graph finish() && { return std::move(graph_); }

 private:
  Value append(GraphNode node);
  Value round_to(Value input, DType to);
  Graph graph_;
  StepContext context_;
};

}  // namespace imgpipe
