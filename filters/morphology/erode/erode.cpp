#include "filters/morphology/erode/erode.h"

namespace imgpipe::erode {
namespace {

Value build(Builder& b, const StepInputs& in, const Params& p) {
  return extreme::build(b, in.image, p, extreme::Kind::least);
}

}  // namespace

FilterSpec spec() {
  auto filter =
      extreme::filter("erode", "Erosion: the least value of the neighbourhood.", "min over the window of v(i + d).");
  filter.build = build;
  return declare("morphology", std::move(filter));
}

}  // namespace imgpipe::erode
