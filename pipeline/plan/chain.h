// A checked pipeline file and the images' headers -> the graph of operations that the planner cuts into groups.
#pragma once

#include <span>

#include "filters/base/graph.h"
#include "pipeline/config/config.h"

namespace imgpipe {

/// Files that steps name by `with:`, in the order of their graph inputs 1, 2, …
std::vector<std::string> with_files(const Config& config);

/// Builds the graph for one image (or volume) of this description; `others` describes the files of `with_files`.
/// The last step's result carries its dtype as written: a final cast is appended where it is not whole.
/// Throws UsageError `file:line:column: filter: why, what is allowed` when a step cannot process such an image.
Graph build_graph(const Config& config, const ImageDesc& image, std::span<const ImageDesc> others);

}  // namespace imgpipe
