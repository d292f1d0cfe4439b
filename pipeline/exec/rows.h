// Rows between memory (any dtype, interleaved, strided) and the compute type (planar): loads, stores, casts.
#pragma once

#include "pipeline/exec/executor.h"

namespace imgpipe::rows {

/// out[i] = in[i * stride] in the compute type.
void load(const std::byte* in, DType dtype, std::int64_t stride, void* out, Compute compute, std::int64_t count);
/// out[i * stride] = in[i]; `in` already holds values of `dtype` (or is of the same float type). NaN is canonical.
void store(const void* in, Compute compute, std::byte* out, DType dtype, std::int64_t stride, std::int64_t count);
/// Rounds half to even and saturates into `dtype`, in the compute type of `dtype`. Counts when `counts` is given.
void cast(const void* in, Compute from, void* out, DType dtype, std::int64_t count, Counts* counts);

}  // namespace imgpipe::rows
