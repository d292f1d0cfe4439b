// The CPU's inner loop of linear filters.
#pragma once

#include <cstdint>

namespace imgpipe {

/// out[i] = fma(w[taps - 1], in[i + (taps - 1) * step], … fma(w[0], in[i], out[i])) for i in [0, count).
template <class T>
void add_taps(const T* in, std::int64_t step, const T* w, int taps, T* out, std::int64_t count);

extern template void add_taps(const float*, std::int64_t, const float*, int, float*, std::int64_t);
extern template void add_taps(const double*, std::int64_t, const double*, int, double*, std::int64_t);

/// Outputs that stay in the first-level cache while all taps go over them.
constexpr std::int64_t tap_block = 1024;

}  // namespace imgpipe
