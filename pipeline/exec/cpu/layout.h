// What a worker does for one tile of a group, in order, and which memory every value uses meanwhile.
#pragma once

#include <map>
#include <set>

#include "pipeline/plan/plan.h"

namespace imgpipe {

/// A value in one of its two forms in tile memory.
struct Form {
  int value = -1;
  bool native = false;  ///< samples of 8 or 16 bits, as in the image; otherwise of the compute type
  auto operator<=>(const Form&) const = default;
};

struct TileWork {
  enum class Kind { load, widen, node };
  Kind kind;
  int value;                ///< loaded, widened, or the node's own
  std::vector<Form> reads;  ///< in the order of the node's inputs
  Form makes;
};

/// Windows that only choose among whole values of 8 or 16 bits work on these; everything else in the compute type.
struct Layout {
  std::vector<TileWork> work;
  std::map<Form, std::size_t> slot_of;
  std::vector<std::size_t> slot_bytes;
  std::map<int, Form> in_place;  ///< nodes that overwrite an input
  std::set<int> as_stored;       ///< loads whose samples lie in the image as the tile wants them
};

Layout lay_out(const Graph& graph, const Group& group, const std::array<int, 3>& tile);

/// The type of a form's samples.
DType dtype_of(const Graph& graph, const Form& form);

}  // namespace imgpipe
