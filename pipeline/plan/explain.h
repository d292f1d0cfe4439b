// A Plan in words, and as JSON.
#pragma once

#include <string>

#include "pipeline/plan/plan.h"

namespace imgpipe {

std::string explain_text(const Plan& plan);
/// An object with `machine`, `bytes`, `seconds` and an array `groups`.
std::string explain_json(const Plan& plan);

}  // namespace imgpipe
