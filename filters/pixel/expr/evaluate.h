// Expressions on the CPU: a few hundred pixels of a row at a time, operation by operation.
#pragma once

#include "filters/base/tile.h"
#include "filters/pixel/expr/program.h"

namespace imgpipe::expr {

/// Computes all output channels of a row.
template <class T>
void evaluate(const Layout& layout, const PixelRow& row);
/// Computes the one channel that a channelwise operation sees.
template <class T>
void evaluate_channel(const Layout& layout, const PixelRow& row);

}  // namespace imgpipe::expr
