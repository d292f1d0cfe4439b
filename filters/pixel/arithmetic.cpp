#include "filters/pixel/arithmetic.h"

#include <stdexcept>

#include "filters/pixel/arithmetic.cuh"

namespace imgpipe::arithmetic {
namespace {

const char* header = "filters/pixel/arithmetic.cuh";

template <class T>
IMGPIPE_CLONES void row_constant(const T* in, T b, T* out, std::int64_t n, Operation operation) {
  switch (operation) {
    case Operation::add:
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] + b;
      break;
    case Operation::subtract:
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] - b;
      break;
    case Operation::multiply:
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * b;
      break;
    case Operation::divide:
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] / b;
      break;
  }
}

template <class T>
IMGPIPE_CLONES void row_image(const T* in, const T* b, T* out, std::int64_t n, Operation operation) {
  switch (operation) {
    case Operation::add:
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] + b[i];
      break;
    case Operation::subtract:
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] - b[i];
      break;
    case Operation::multiply:
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * b[i];
      break;
    case Operation::divide:
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] / b[i];
      break;
  }
}

struct Nothing {
  char unused = 0;
};

std::string type_name(const char* functor, Compute compute, Operation operation, const std::string& more = "") {
  return std::string("arithmetic::") + functor + "<" + c_name(compute) + ", " +
         std::to_string(static_cast<int>(operation)) + more + ">";
}

Value with_constant(Builder& b, Value image, double value, Operation operation) {
  PixelOp op;
  visit_compute(b.compute(image), [&](auto t) {
    using T = decltype(t);
    const T v = T(value);
    op.cpu = [v, operation](const PixelRow& r) { row_constant(r.in<T>(), v, r.out<T>(), r.count, operation); };
    op.device = device_code(header, type_name("WithConstant", b.compute(image), operation), v);
  });
  return b.pixel({image}, std::move(op));
}

Value with_image(Builder& b, Value image, Value other, Operation operation) {
  PixelOp op;
  visit_compute(b.compute(image), [&](auto t) {
    using T = decltype(t);
    op.cpu = [operation](const PixelRow& r) { row_image(r.in<T>(0), r.in<T>(1), r.out<T>(), r.count, operation); };
  });
  op.device = device_code(header, type_name("WithImage", b.compute(image), operation), Nothing{});
  return b.pixel({image, other}, std::move(op));
}

Value with_gray(Builder& b, Value image, Value other, Operation operation) {
  const ValueInfo& info = b.info(image);
  const int channels = info.desc.channels, colours = info.colours();
  PixelOp op;
  op.channelwise = false;
  visit_compute(info.compute, [&](auto t) {
    using T = decltype(t);
    op.cpu = [=](const PixelRow& r) {
      for (int c = 0; c < colours; ++c) row_image(r.in<T>(0, c), r.in<T>(1, 0), r.out<T>(c), r.count, operation);
      for (int c = colours; c < channels; ++c)
        if (r.out<T>(c) != r.in<T>(0, c)) std::memcpy(r.out<T>(c), r.in<T>(0, c), r.count * sizeof(T));
    };
  });
  op.device = device_code(
      header,
      type_name("WithGray", info.compute, operation, ", " + std::to_string(channels) + ", " + std::to_string(colours)),
      Nothing{});
  return b.pixel({image, other}, std::move(op));
}

}  // namespace

Value build(Builder& b, const StepInputs& in, const Params& p, Operation operation) {
  if (p.value) return with_constant(b, in.image, *p.value, operation);
  const ImageDesc& first = b.info(in.image).desc;
  const ImageDesc& second = b.info(*in.with).desc;
  if (first.channels == second.channels) return with_image(b, in.image, *in.with, operation);
  if (second.channels == 1) return with_gray(b, in.image, *in.with, operation);
  throw std::invalid_argument("the second image has " + std::to_string(second.channels) + " channels, the first " +
                              std::to_string(first.channels) + ": it must have as many, or one");
}

FilterSpec declare_operation(const std::string& name, const std::string& summary, const std::string& formula,
                             Value (*build)(Builder&, const StepInputs&, const Params&)) {
  return declare("pixel",
                 Filter<Params>{
                     .name = name,
                     .summary = summary,
                     .kind = Kind::pixel,
                     .params = {field("value", &Params::value, "",
                                      "Constant operand, in native values; or name a second image by `with`.")},
                     .main_param = "value",
                     .inputs = 2,
                     .result = "that of the image",
                     .formula = formula + " A second image has the same size, and as many channels or one (used for "
                                          "every colour). Alpha is left alone.",
                     .validate =
                         [](const Params& p, bool has_with) {
                           if (p.value.has_value() == has_with)
                             throw std::invalid_argument("give either `value` or `with`");
                         },
                     .build = build,
                     .examples = {"3.7", "{with: other0.tif}"},
                 });
}

}  // namespace imgpipe::arithmetic
