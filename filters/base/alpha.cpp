#include "filters/base/alpha.h"

#include "filters/base/alpha.cuh"

namespace imgpipe {
namespace {

template <class T>
IMGPIPE_CLONES void weight_row(const T* colour, const T* alpha, T* out, std::int64_t n, T white) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = colour[i] * (alpha[i] / white);
}

template <class T>
IMGPIPE_CLONES void scale_row(const T* alpha, T* out, std::int64_t n, T white) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = alpha[i] / white;
}

template <class T>
IMGPIPE_CLONES void unweight_row(const T* colour, const T* weight, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = weight[i] == T(0) ? T(0) : colour[i] / weight[i];
}

template <class T>
IMGPIPE_CLONES void range_row(const T* alpha, T* out, std::int64_t n, T to, T from) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = alpha[i] * to / from;
}

std::string type_name(const char* functor, Compute compute, int channels) {
  return std::string("alpha::") + functor + "<" + c_name(compute) + ", " + std::to_string(channels) + ">";
}

Value weight(Builder& b, Value in) {
  const ValueInfo& info = b.info(in);
  const int last = info.desc.channels - 1;
  PixelOp op;
  op.channelwise = false;
  visit_compute(info.compute, [&](auto t) {
    using T = decltype(t);
    const T white = T(nominal_range(info.desc.dtype).white);
    op.cpu = [=](const PixelRow& r) {
      for (int c = 0; c < last; ++c) weight_row(r.in<T>(0, c), r.in<T>(0, last), r.out<T>(c), r.count, white);
      scale_row(r.in<T>(0, last), r.out<T>(last), r.count, white);
    };
    op.device = device_code("filters/base/alpha.cuh", type_name("Weight", info.compute, last + 1), white);
  });
  return b.pixel({in}, std::move(op));
}

Value unweight(Builder& b, Value filtered, Value original) {
  const ValueInfo& info = b.info(filtered);
  const int last = info.desc.channels - 1;
  PixelOp op;
  op.channelwise = false;
  visit_compute(info.compute, [&](auto t) {
    using T = decltype(t);
    op.cpu = [=](const PixelRow& r) {
      for (int c = 0; c < last; ++c) unweight_row(r.in<T>(0, c), r.in<T>(0, last), r.out<T>(c), r.count);
      std::memcpy(r.out<T>(last), r.in<T>(1, last), r.count * sizeof(T));
    };
  });
  op.device = device_code("filters/base/alpha.cuh", type_name("Unweight", info.compute, last + 1), char(0));
  return b.pixel({filtered, original}, std::move(op));
}

}  // namespace

Value alpha_for(Builder& b, Value in, DType to) {
  const double white_in = nominal_range(b.info(in).desc.dtype).white, white_out = nominal_range(to).white;
  if (!b.info(in).desc.alpha || white_in == white_out) return in;
  // In the wider compute type of both, so that 32-bit results keep their bits.
  const Value wide = compute_type(to) == Compute::f64 ? b.with_compute(in, Compute::f64) : in;
  const ValueInfo& info = b.info(wide);
  const int last = info.desc.channels - 1;
  PixelOp op;
  op.channelwise = false;
  visit_compute(info.compute, [&](auto t) {
    using T = decltype(t);
    const alpha::Range<T, 2> range{T(white_out), T(white_in)};
    op.cpu = [=](const PixelRow& r) {
      for (int c = 0; c < last; ++c)
        if (r.out<T>(c) != r.in<T>(0, c)) std::memcpy(r.out<T>(c), r.in<T>(0, c), r.count * sizeof(T));
      range_row(r.in<T>(0, last), r.out<T>(last), r.count, range.to, range.from);
    };
    op.device = device_code("filters/base/alpha.cuh", type_name("Range", info.compute, last + 1), range);
  });
  return b.pixel({wide}, std::move(op));
}

Value weighted_by_alpha(Builder& b, Value in, const std::function<Value(Value)>& passes) {
  if (!b.info(in).desc.alpha) return passes(in);
  return unweight(b, passes(weight(b, in)), in);
}

}  // namespace imgpipe
