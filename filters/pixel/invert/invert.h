// invert: turn black into white.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::invert {

struct Params {};

Value build(Builder& b, Value in);

FilterSpec spec();

}  // namespace imgpipe::invert
