#include "filters/pixel/subtract/subtract.h"

#include "filters/pixel/arithmetic.h"

namespace imgpipe::subtract {

FilterSpec spec() {
  return arithmetic::declare_operation("subtract", "Subtract a constant or a second image.", "v - w.",
                                       [](Builder& b, const StepInputs& in, const arithmetic::Params& p) {
                                         return arithmetic::build(b, in, p, arithmetic::Operation::subtract);
                                       });
}

}  // namespace imgpipe::subtract
