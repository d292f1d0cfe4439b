// Filters that average neighbours weight colour by alpha, so that what is transparent does not bleed.
#pragma once

#include "filters/base/graph.h"

namespace imgpipe {

/// Runs `passes` on the image. With alpha: on colours times alpha/white and on alpha/white, then divides the colours
/// by the filtered alpha (0 where that is 0) and keeps the original alpha. The windows must filter alpha.
Value weighted_by_alpha(Builder& b, Value in, const std::function<Value(Value)>& passes);

}  // namespace imgpipe
