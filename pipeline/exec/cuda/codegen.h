// A group of the plan -> the source of its kernel. The text is only the composition: everything it calls stands in
// filters/. Values a user changes travel in the arguments, so they need no new compile.
#pragma once

#include <string>
#include <vector>

#include "pipeline/plan/plan.h"

namespace imgpipe::cuda {

/// One member of the kernel's argument struct. Every member starts on a 16-byte boundary.
struct Argument {
  enum class Kind { frame, load, store, edge, op, scalars, extrema };
  Kind kind;
  int node;  ///< the value, window, operation or reduction it belongs to
};

/// Threads of a block. Other sizes give the same bytes.
constexpr int default_threads = 256;

struct KernelSource {
  std::string text;
  std::string name;                 ///< of the entry point, from a hash of the text
  std::vector<Argument> arguments;  ///< in order
  std::array<int, 3> tile;
  int threads = default_threads;
  std::int64_t shared_bytes = 0;
  std::int64_t scratch_bytes = 0;  ///< a block, when tiles do not fit in shared memory
  bool flat = false;               ///< pixels are independent: dense images may be run as one long row
  bool merged_channels = false;    ///< as above with channels as pixels
};

/// `flat_images`: loads and stores are dense, so that rows (and channels) may be joined.
/// `threads` of a block: a multiple of 32, up to 1024.
KernelSource generate(const Graph& graph, const Group& group, bool flat_images, int threads = default_threads);

}  // namespace imgpipe::cuda
