// Alpha beside colour: filters that average neighbours weight colour by it, so that what is transparent does not bleed,
// and another dtype keeps what it means.
#pragma once

#include "filters/base/graph.h"

namespace imgpipe {

/// Runs `passes` on the image. With alpha: on colours times alpha/white and on alpha/white, then divides the colours
/// by the filtered alpha (0 where that is 0) and keeps the original alpha. The windows must filter alpha.
Value weighted_by_alpha(Builder& b, Value in, const std::function<Value(Value)>& passes);

/// Alpha as a part of the white of `to`, not of the image's dtype; colours stay. Images without alpha as they are.
Value alpha_for(Builder& b, Value in, DType to);

}  // namespace imgpipe
