// Rows between memory (any dtype, interleaved, strided) and the compute type (planar): loads, stores, casts.
#pragma once

#include "pipeline/exec/executor.h"

namespace imgpipe::rows {

/// out[i] = in[i * stride]; `to` is `dtype` itself, float32 or float64.
void load(const std::byte* in, DType dtype, std::int64_t stride, void* out, DType to, std::int64_t count);
/// out[i * stride] = in[i]; `from` is `dtype` itself, float32 or float64, and `in` holds values of `dtype` only (or is
/// of a float type). NaN is canonical.
void store(const void* in, DType from, std::byte* out, DType dtype, std::int64_t stride, std::int64_t count);
/// Rounds half to even and saturates into `dtype`, in the compute type of `dtype`. Counts when `counts` is given.
void cast(const void* in, Compute from, void* out, DType dtype, std::int64_t count, Counts* counts);

}  // namespace imgpipe::rows
