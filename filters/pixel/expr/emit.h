// Expressions as device source: a functor whose constants are parameters, so that new numbers need no new compile.
#pragma once

#include "filters/base/graph.h"
#include "filters/pixel/expr/program.h"

namespace imgpipe::expr {

/// For a channelwise operation: T operator()(T, …) of the images' samples.
DeviceCode emit_channel(const Layout& layout, Compute compute);
/// For all channels at once: void operator()(const T*, …, T* out).
DeviceCode emit(const Layout& layout, Compute compute);

}  // namespace imgpipe::expr
