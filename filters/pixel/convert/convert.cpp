#include "filters/pixel/convert/convert.h"

namespace imgpipe::convert {

FilterSpec spec() {
  return declare("pixel",
                 Filter<Params>{
                     .name = "convert",
                     .summary = "Change the dtype and keep the values.",
                     .kind = Kind::pixel,
                     .params = {required(field("to", &Params::to, "", "The new dtype."))},
                     .main_param = "to",
                     .result = "`to`",
                     .formula = "Rounds half to even and saturates; NaN becomes 0, and both are counted. `rescale` "
                                "maps range to range. Alpha "
                                "is a part of white, and is mapped to the new one.",
                     .build = [](Builder& b, const StepInputs& in, const Params& p) { return b.cast(in.image, p.to); },
                     .examples = {"uint8", "int16", "float64", "uint32"},
                 });
}

}  // namespace imgpipe::convert
