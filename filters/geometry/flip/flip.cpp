#include "filters/geometry/flip/flip.h"

#include <stdexcept>

namespace imgpipe {
template <>
struct EnumNames<flip::Axis> {
  static constexpr std::string_view value[] = {"x", "y", "z"};
};
}  // namespace imgpipe

namespace imgpipe::flip {

FilterSpec spec() {
  return declare("geometry",
                 Filter<Params>{
                     .name = "flip",
                     .summary = "Mirror along one or more axes.",
                     .kind = Kind::geometry,
                     .params = {field("axis", &Params::axis, "",
                                      "x (left and right), y (top and bottom), z, or a list of these.")},
                     .main_param = "axis",
                     .result = "that of the image",
                     .formula = "Exact copy, last pixel first. Spacing and origin stay.",
                     .build =
                         [](Builder& b, const StepInputs& in, const Params& p) {
                           const ImageDesc desc = b.info(in.image).desc;
                           const std::int64_t size[3] = {desc.extent.width, desc.extent.height, desc.extent.depth};
                           ViewOp view;
                           for (Axis axis : p.axis) {
                             const int a = static_cast<int>(axis);
                             if (view.step[a] < 0) throw std::invalid_argument("an axis is named twice");
                             view.step[a] = -1;
                             view.offset[a] = size[a] - 1;
                           }
                           return b.view(in.image, desc.extent, desc.geometry, view);
                         },
                     .examples = {"y", "[x, y]", "z"},
                 });
}

}  // namespace imgpipe::flip
