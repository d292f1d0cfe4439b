#include "filters/morphology/close/close.h"

namespace imgpipe::close {
namespace {

Value build(Builder& b, const StepInputs& in, const Params& p) {
  return extreme::build(b, extreme::build(b, in.image, p, extreme::Kind::most), p, extreme::Kind::least, true);
}

}  // namespace

FilterSpec spec() {
  auto filter = extreme::filter(
      "close", "Closing: removes what is dark and smaller than the window.",
      "Dilation, then erosion with the window turned by half a turn, so that the closing is nowhere below the image.");
  filter.kind = imgpipe::Kind::composite;
  filter.build = build;
  return declare("morphology", std::move(filter));
}

}  // namespace imgpipe::close
