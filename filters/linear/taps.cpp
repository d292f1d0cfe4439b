#include "filters/linear/taps.h"

#include <cmath>

#include "filters/base/tile.h"

namespace imgpipe {
namespace {

template <int N, class T>
IMGPIPE_CLONES void add_some(const T* in, std::int64_t step, const T* w, T* out, std::int64_t count) {
  T weight[N];
  for (int k = 0; k < N; ++k) weight[k] = w[k];
  for (std::int64_t i = 0; i < count; ++i) {
    T sum = out[i];
    for (int k = 0; k < N; ++k) sum = std::fma(weight[k], in[i + k * step], sum);
    out[i] = sum;
  }
}

}  // namespace

template <class T>
void add_taps(const T* in, std::int64_t step, const T* w, int taps, T* out, std::int64_t count) {
  int k = 0;
  for (; k + 8 <= taps; k += 8) add_some<8>(in + k * step, step, w + k, out, count);
  for (; k + 3 <= taps; k += 3) add_some<3>(in + k * step, step, w + k, out, count);
  for (; k < taps; ++k) add_some<1>(in + k * step, step, w + k, out, count);
}

template void add_taps(const float*, std::int64_t, const float*, int, float*, std::int64_t);
template void add_taps(const double*, std::int64_t, const double*, int, double*, std::int64_t);

}  // namespace imgpipe
