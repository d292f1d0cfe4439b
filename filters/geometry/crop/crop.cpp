#include "filters/geometry/crop/crop.h"

#include <stdexcept>

namespace imgpipe::crop {
namespace {

struct Box {
  std::array<std::int64_t, 3> at, size;
};

Box box_of(const Params& p, const Extent& e) {
  if (p.box.size() == 4) return {{p.box[0], p.box[1], 0}, {p.box[2], p.box[3], e.depth}};
  if (p.box.size() == 6) return {{p.box[0], p.box[1], p.box[2]}, {p.box[3], p.box[4], p.box[5]}};
  return {{p.x, p.y, p.z},
          {p.width.value_or(e.width - p.x), p.height.value_or(e.height - p.y), p.depth.value_or(e.depth - p.z)}};
}

Value build(Builder& b, const StepInputs& in, const Params& p) {
  const ImageDesc desc = b.info(in.image).desc;
  const Box box = box_of(p, desc.extent);
  const std::int64_t image[3] = {desc.extent.width, desc.extent.height, desc.extent.depth};
  const char* axes[3] = {"x", "y", "z"};
  Geometry geometry = desc.geometry;
  for (int a = 0; a < 3; ++a) {
    if (box.at[a] < 0 || box.size[a] < 1 || box.at[a] > image[a] - box.size[a])
      throw std::invalid_argument("the box takes " + std::to_string(box.size[a]) + " pixels from " +
                                  std::to_string(box.at[a]) + " along " + axes[a] + ", the image has " +
                                  std::to_string(image[a]));
    geometry.origin[a] += static_cast<double>(box.at[a]) * geometry.spacing[a];
  }
  return b.view(in.image, {box.size[0], box.size[1], box.size[2]}, geometry, {box.at, {1, 1, 1}});
}

}  // namespace

FilterSpec spec() {
  constexpr Range place{0, 1e15}, size{1, 1e15};
  return declare(
      "geometry",
      Filter<Params>{
          .name = "crop",
          .summary = "Cut out a box.",
          .kind = Kind::geometry,
          .params = {field("box", &Params::box, "px", "[x, y, width, height], or [x, y, z, width, height, depth]."),
                     field("x", &Params::x, place, "px", "First column."),
                     field("y", &Params::y, place, "px", "First row."),
                     field("z", &Params::z, place, "px", "First slice."),
                     field("width", &Params::width, size, "px", "Columns; up to the edge when left out."),
                     field("height", &Params::height, size, "px", "Rows; up to the edge when left out."),
                     field("depth", &Params::depth, size, "px", "Slices; up to the edge when left out.")},
          .main_param = "box",
          .result = "that of the image",
          .formula = "Exact copy. The box must lie inside the image. The origin moves with it.",
          .validate =
              [](const Params& p, bool) {
                if (!p.box.empty() && p.box.size() != 4 && p.box.size() != 6)
                  throw std::invalid_argument("box must be [x, y, width, height] or [x, y, z, width, height, depth]");
              },
          .build = build,
          .examples = {"{x: 1, y: 1}", "[0, 0, 1, 1]", "{x: 2, width: 3, height: 2}"},
      });
}

}  // namespace imgpipe::crop
