#include "filters/morphology/dilate/dilate.h"

namespace imgpipe::dilate {
namespace {

Value build(Builder& b, const StepInputs& in, const Params& p) {
  return extreme::build(b, in.image, p, extreme::Kind::most);
}

}  // namespace

FilterSpec spec() {
  auto filter = extreme::filter("dilate", "Dilation: the greatest value of the neighbourhood.",
                                "max over the window of v(i + d).");
  filter.build = build;
  return declare("morphology", std::move(filter));
}

}  // namespace imgpipe::dilate
