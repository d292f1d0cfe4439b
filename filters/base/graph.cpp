#include "filters/base/graph.h"

#include <algorithm>
#include <stdexcept>

#include "filters/base/alpha.h"

namespace imgpipe {

Compute compute_type(DType type) {
  return type == DType::f64 || type == DType::i32 || type == DType::u32 ? Compute::f64 : Compute::f32;
}

const char* c_name(Compute compute) { return compute == Compute::f32 ? "float" : "double"; }

Halo Halo::along(int axis, int low, int high) {
  Halo halo;
  halo.low[axis] = low;
  halo.high[axis] = high;
  return halo;
}

Halo Halo::operator+(const Halo& other) const {
  Halo sum;
  for (int a = 0; a < 3; ++a) {
    sum.low[a] = low[a] + other.low[a];
    sum.high[a] = high[a] + other.high[a];
  }
  return sum;
}

Halo Halo::max(const Halo& other) const {
  Halo most;
  for (int a = 0; a < 3; ++a) {
    most.low[a] = std::max(low[a], other.low[a]);
    most.high[a] = std::max(high[a], other.high[a]);
  }
  return most;
}

Value Builder::append(GraphNode node) {
  node.step = context_.number;
  if (node.label.empty()) node.label = context_.filter;
  graph_.nodes.push_back(std::move(node));
  return {static_cast<int>(graph_.nodes.size()) - 1};
}

Value Builder::input(const ImageDesc& desc, int index) {
  context_ = {};
  return append({InputOp{index}, {}, {}, {desc, compute_type(desc.dtype), true}, 0, "input"});
}

Value Builder::pixel(std::vector<Value> inputs, PixelOp op, bool whole, std::optional<Scalars> scalars) {
  GraphNode node{std::move(op), {}, {}, info(inputs[0]), 0, {}};
  node.value.whole = whole || is_float(node.value.desc.dtype);
  if (is_float(node.value.desc.dtype)) node.value.whole = node.value.storage() == node.value.desc.dtype;
  for (Value value : inputs) {
    const Value same = with_compute(value, compute(inputs[0]));
    if (info(same).desc.extent != info(inputs[0]).desc.extent)
      throw std::invalid_argument("the second image is " + describe(info(same).desc) + ", the first " +
                                  describe(info(inputs[0]).desc) + ": sizes must be equal");
    node.inputs.push_back(same.id);
  }
  if (scalars) node.scalars = scalars->id;
  return append(std::move(node));
}

Value Builder::pixel_to(std::vector<Value> inputs, PixelOp op, int channels, bool alpha) {
  op.channelwise = false;
  Value value = pixel(std::move(inputs), std::move(op));
  graph_.nodes[value.id].value.desc.channels = channels;
  graph_.nodes[value.id].value.desc.alpha = alpha;
  return value;
}

Value Builder::window(Value input, WindowOp op, bool whole, std::optional<Compute> compute) {
  if (op.border == Border::reflect101 || op.border == Border::reflect)
    op.halo = op.halo.max({op.halo.high, op.halo.low});
  GraphNode node{std::move(op), {input.id}, {}, info(input), 0, {}};
  node.value.whole = whole && info(input).whole;
  if (compute) node.value.compute = *compute;
  if (is_float(node.value.desc.dtype)) node.value.whole = dtype_of(node.value.compute) == node.value.desc.dtype;
  return append(std::move(node));
}

Value Builder::cast(Value input, DType to) { return round_to(alpha_for(*this, input, to), to); }

Value Builder::round_to(Value input, DType to) {
  GraphNode node{CastOp{to}, {input.id}, {}, info(input), 0, {}};
  node.value.desc.dtype = to;
  node.value.compute = compute_type(to);
  node.value.whole = true;
  return append(std::move(node));
}

Value Builder::view(Value input, const Extent& extent, const Geometry& geometry, ViewOp op) {
  GraphNode node{op, {input.id}, {}, info(input), 0, {}};
  node.value.desc.extent = extent;
  node.value.desc.geometry = geometry;
  return append(std::move(node));
}

Scalars Builder::reduce(Value input, ReduceOp op) {
  if (op.fractions.size() > 8) throw std::logic_error("at most 8 quantiles at once");
  if (op.kind == ReduceOp::Kind::quantiles) op.scalars = static_cast<int>(op.fractions.size());
  if (op.kind == ReduceOp::Kind::quantiles && op.fractions == std::vector<double>{0, 1})
    op.kind = ReduceOp::Kind::extrema;
  if (op.kind == ReduceOp::Kind::moments) op.scalars = 6;
  return {append({std::move(op), {input.id}, {}, info(input), 0, {}}).id};
}

Value Builder::retype(Value input, DType to) {
  input = alpha_for(*this, input, to);
  GraphNode& node = graph_.nodes[input.id];
  if (std::holds_alternative<InputOp>(node.op) || node.value.compute != compute_type(to))
    throw std::logic_error("retype needs a computed value of the same compute type");
  node.value.desc.dtype = to;
  node.value.whole = node.value.compute == compute_type(to) && is_float(to);
  return input;
}

Value Builder::with_compute(Value input, Compute target) {
  if (compute(input) == target) return input;
  const DType dtype = info(input).desc.dtype;
  Value value = round_to(input, dtype_of(target));
  if (!is_float(dtype)) graph_.nodes[value.id].value.desc.dtype = dtype;
  graph_.nodes[value.id].value.whole = is_float(dtype);
  return value;
}

void Builder::report(Scalars scalars, std::vector<std::string> names) {
  graph_.reports.push_back({context_.number, context_.filter, scalars.id, std::move(names), {}});
}

void Builder::warn(Scalars scalars, std::function<std::string(std::span<const double>)> warning) {
  graph_.reports.push_back({context_.number, context_.filter, scalars.id, {}, std::move(warning)});
}

void Builder::result(std::string name, Value value) { graph_.results.push_back({std::move(name), value.id}); }

}  // namespace imgpipe
