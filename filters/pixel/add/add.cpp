#include "filters/pixel/add/add.h"

#include "filters/pixel/arithmetic.h"

namespace imgpipe::add {

FilterSpec spec() {
  return arithmetic::declare_operation("add", "Add a constant or a second image.", "v + w.",
                                       [](Builder& b, const StepInputs& in, const arithmetic::Params& p) {
                                         return arithmetic::build(b, in, p, arithmetic::Operation::add);
                                       });
}

}  // namespace imgpipe::add
