#include "filters/pixel/multiply/multiply.h"

#include "filters/pixel/arithmetic.h"

namespace imgpipe::multiply {

FilterSpec spec() {
  return arithmetic::declare_operation("multiply", "Multiply by a constant or a second image.", "v * w.",
                                       [](Builder& b, const StepInputs& in, const arithmetic::Params& p) {
                                         return arithmetic::build(b, in, p, arithmetic::Operation::multiply);
                                       });
}

}  // namespace imgpipe::multiply
