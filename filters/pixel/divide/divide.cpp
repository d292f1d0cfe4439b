#include "filters/pixel/divide/divide.h"

#include "filters/pixel/arithmetic.h"

namespace imgpipe::divide {

FilterSpec spec() {
  return arithmetic::declare_operation("divide", "Divide by a constant or a second image.",
                                       "v / w, as IEEE 754 has it: 1/0 is infinite, 0/0 is NaN; both are counted when "
                                       "the result is written as integers.",
                                       [](Builder& b, const StepInputs& in, const arithmetic::Params& p) {
                                         return arithmetic::build(b, in, p, arithmetic::Operation::divide);
                                       });
}

}  // namespace imgpipe::divide
