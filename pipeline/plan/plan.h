// A graph cut into groups: what runs together on a tile without touching memory in between. The Plan is data:
// `explain` prints it, the tiled executors run it, tests compare its groups.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "filters/base/graph.h"

namespace imgpipe {

/// What the cost model knows of a machine.
struct Machine {
  std::string name;
  double bytes_per_second;                             ///< of main (device) memory, read plus written
  double flops_per_second;                             ///< arithmetic on tile data, in practice
  double group_seconds;                                ///< fixed cost of one more group
  double load_flops, store_flops, pass_flops;          ///< of a sample loaded, stored, and gone over in a pass
  double tile_flops;                                   ///< fixed cost of a tile
  std::int64_t fast_memory;                            ///< bytes for one tile's values
  bool native_tiles;                                   ///< keeps native values of a group in tiles of their own dtype
  std::vector<std::array<int, 3>> tiles_2d, tiles_3d;  ///< candidates, [x, y, z]
  /// Factor on a group's time for tiles of so many bytes.
  double crowding(std::int64_t tile_bytes) const;
  static Machine gpu();
  static Machine cpu();
};

/// A value kept in tile memory from one stage to a later one.
struct TileValue {
  int value;
  Halo halo;  ///< beyond the tile's own pixels
  int first_stage, last_stage;
};

/// One pass over the tile: values come from a load, from a window operation or from tile memory, then per-pixel
/// operations follow in registers, then results go to tile memory, to main memory and into reductions.
struct Stage {
  enum class Source { load, window, tile };
  Source source = Source::load;
  int window = -1;         ///< the WindowOp node
  std::vector<int> nodes;  ///< per-pixel and cast nodes, in order
  std::vector<int> keeps;  ///< values written to tile memory
  Halo region;             ///< pixels computed beyond the tile's own
};

struct Group {
  std::vector<int> nodes;    ///< window, per-pixel and cast nodes in order
  std::vector<int> loads;    ///< values read from memory: inputs, views, results of earlier groups
  std::vector<int> stores;   ///< values written to memory
  std::vector<int> reduces;  ///< reductions over values of this group (or over its loads)
  std::map<int, Halo> need;  ///< for every value in the group: pixels needed beyond the tile's own
  std::vector<int> native;   ///< whole values of 8 or 16 bits made by loads and by windows that only choose among them
  std::vector<Stage> stages;
  std::vector<TileValue> tile_values;
  std::array<int, 3> tile{0, 0, 0};  ///< {0, 0, 0}: no windows, pixels are independent
  Extent extent;
  Halo halo;                    ///< of the loads
  bool tile_in_memory = false;  ///< the tile with its halo passes the fast memory: its values live in main memory
  double bytes = 0, flops = 0, seconds = 0;
  std::string ends;  ///< why the group ends where it does
};

struct Plan {
  Graph graph;
  std::vector<bool> live;  ///< nodes that a result or report depends on
  std::vector<Group> groups;
  Machine machine;
  double bytes() const;
  double seconds() const;
};

struct PlanOptions {
  bool fuse = true;                  ///< false: one operation a group
  std::array<int, 3> tile{0, 0, 0};  ///< fixed tile size; 0: chosen by cost
};

Plan make_plan(Graph graph, const Machine& machine, const PlanOptions& options = {});

/// The stored value behind a view, and the view composed over all ViewOps in between.
struct Source {
  int value;
  ViewOp view;
};
Source source_of(const Graph& graph, int value);

/// Bytes of one tile's values when values that are not alive at once share memory. `offsets` (optional) gets one
/// offset a tile value. Planar by channel; samples are of the compute type, or of the value's own where `native` says
/// so and the group's native values have it.
std::int64_t tile_bytes(const Graph& graph, const Group& group, std::vector<std::int64_t>* offsets = nullptr,
                        bool native = false);

/// Shape of a tile value in memory: x = 0 lies on a 16-byte boundary, and pitch / 4 is odd.
struct TileShape {
  int left, top, front, pitch, rows, planes;
  std::int64_t samples() const { return std::int64_t(pitch) * rows * planes; }
};
TileShape tile_shape(const Group& group, const TileValue& value);

}  // namespace imgpipe
