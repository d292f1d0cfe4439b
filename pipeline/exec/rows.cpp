#include "pipeline/exec/rows.h"

#include <cmath>
#include <limits>

namespace imgpipe {

Counts& Counts::operator+=(const Counts& other) {
  clipped += other.clipped;
  nans += other.nans;
  return *this;
}

namespace rows {
namespace {

template <class S, class T>
IMGPIPE_CLONES void load_dense(const S* __restrict in, T* __restrict out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(in[i]);
}

template <class S, class T>
void load_strided(const S* in, std::int64_t stride, T* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(in[i * stride]);
}

template <class T>
T canonical(T v) {
  return v != v ? std::numeric_limits<T>::quiet_NaN() : v;
}

template <class T, class S>
IMGPIPE_CLONES void store_dense(const T* __restrict in, S* __restrict out, std::int64_t count) {
  if constexpr (std::is_floating_point_v<S>) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = canonical(static_cast<S>(in[i]));
  } else if constexpr (sizeof(S) < 4) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<S>(static_cast<std::int32_t>(in[i]));
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<S>(in[i]);
  }
}

template <class T, class S>
void store_strided(const T* in, S* out, std::int64_t stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<S>)
      out[i * stride] = canonical(static_cast<S>(in[i]));
    else
      out[i * stride] = static_cast<S>(in[i]);
  }
}

template <class T, class S>
IMGPIPE_CLONES void cast_row(const T* in, std::conditional_t<(sizeof(S) == 4), double, float>* out, std::int64_t count,
                             std::uint64_t* clipped, std::uint64_t* nans) {
  using Wide = std::conditional_t<(sizeof(S) == 4), double, T>;
  using Out = std::conditional_t<(sizeof(S) == 4), double, float>;
  constexpr Wide low = static_cast<Wide>(std::numeric_limits<S>::min());
  constexpr Wide high = static_cast<Wide>(std::numeric_limits<S>::max());
  std::uint32_t out_of_range = 0, not_numbers = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Wide v = static_cast<Wide>(in[i]);
    Wide r = sizeof(Wide) == 4 ? Wide(__builtin_rintf(float(v))) : Wide(__builtin_rint(double(v)));
    out_of_range += (r < low) | (r > high);
    not_numbers += v != v;
    r = r < low ? low : r;
    r = r > high ? high : r;
    r = v != v ? Wide(0) : r;
    out[i] = static_cast<Out>(r + Wide(0));
  }
  *clipped += out_of_range;
  *nans += not_numbers;
}

template <class T, class U>
IMGPIPE_CLONES void convert_row(const T* in, U* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<U>(in[i]);
}

}  // namespace

void load(const std::byte* in, DType dtype, std::int64_t stride, void* out, DType to, std::int64_t count) {
  visit_dtype(dtype, [&](auto s) {
    using S = decltype(s);
    const auto as = [&](auto t) {
      using T = decltype(t);
      const auto* samples = reinterpret_cast<const S*>(in);
      if (stride == 1)
        load_dense(samples, static_cast<T*>(out), count);
      else
        load_strided(samples, stride, static_cast<T*>(out), count);
    };
    to == DType::f32 ? as(float{}) : to == DType::f64 ? as(double{}) : as(S{});
  });
}

void store(const void* in, DType from, std::byte* out, DType dtype, std::int64_t stride, std::int64_t count) {
  visit_dtype(dtype, [&](auto s) {
    using S = decltype(s);
    const auto as = [&](auto t) {
      using T = decltype(t);
      auto* samples = reinterpret_cast<S*>(out);
      if (stride == 1)
        store_dense(static_cast<const T*>(in), samples, count);
      else
        store_strided(static_cast<const T*>(in), samples, stride, count);
    };
    from == DType::f32 ? as(float{}) : from == DType::f64 ? as(double{}) : as(S{});
  });
}

void cast(const void* in, Compute from, void* out, DType dtype, std::int64_t count, Counts* counts) {
  Counts here;
  visit_compute(from, [&](auto t) {
    visit_dtype(dtype, [&](auto s) {
      using T = decltype(t);
      using S = decltype(s);
      const T* values = static_cast<const T*>(in);
      if constexpr (std::is_floating_point_v<S>) {
        convert_row(values, static_cast<S*>(out), count);
      } else {
        using Out = std::conditional_t<(sizeof(S) == 4), double, float>;
        cast_row<T, S>(values, static_cast<Out*>(out), count, &here.clipped, &here.nans);
      }
    });
  });
  if (counts) *counts += here;
}

}  // namespace rows
}  // namespace imgpipe
