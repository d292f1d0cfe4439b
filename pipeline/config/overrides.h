// `--set steps.2.sigma=3`: changes to a pipeline file from the command line.
#pragma once

#include <string>

#include "filters/base/node.h"

namespace imgpipe {

/// Applies "path=value" to a parsed pipeline file: "border=wrap", "steps.2.sigma=3", "steps.2.gaussian.sigma=3",
/// "steps.3=0.8" (the main parameter). Steps count from 1. The value is YAML. Throws NodeError without a place.
void apply_override(Node& root, const std::string& text);

}  // namespace imgpipe
