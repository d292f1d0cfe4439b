// How a group runs on a tile: halos in one backward pass, then passes over the tile with what stays in registers.
#pragma once

#include "pipeline/plan/plan.h"

namespace imgpipe {

/// Fills `native`, `need`, `halo`, `stages` and `tile_values` of a group whose nodes, loads and stores are known.
void make_stages(const Graph& graph, Group& group);

/// The stage in which a per-pixel value is at hand; -1 for a load that is read from memory where it is needed.
int stage_of(const Group& group, int value);

}  // namespace imgpipe
