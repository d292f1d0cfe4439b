#include "filters/morphology/open/open.h"

namespace imgpipe::open {
namespace {

Value build(Builder& b, const StepInputs& in, const Params& p) {
  return extreme::build(b, extreme::build(b, in.image, p, extreme::Kind::least), p, extreme::Kind::most, true);
}

}  // namespace

FilterSpec spec() {
  auto filter = extreme::filter(
      "open", "Opening: removes what is bright and smaller than the window.",
      "Erosion, then dilation with the window turned by half a turn, so that the opening is nowhere above the image.");
  filter.kind = imgpipe::Kind::composite;
  filter.build = build;
  return declare("morphology", std::move(filter));
}

}  // namespace imgpipe::open
