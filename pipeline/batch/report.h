// The machine-readable report of a run.
#pragma once

#include <string>

#include "pipeline/batch/batch.h"

namespace imgpipe {

/// Writes the report as JSON. Throws InputError when the file cannot be written.
void write_report(const std::string& path, const Config& config, const BatchReport& report);

}  // namespace imgpipe
