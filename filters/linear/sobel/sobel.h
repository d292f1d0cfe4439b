// sobel: first derivatives, smoothed across their axis, or their magnitude.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::sobel {

enum class Output { magnitude, x, y, z };

struct Params {
  Output axis = Output::magnitude;
};

Value build(Builder& b, Value in, Output output = Output::magnitude);

FilterSpec spec();

}  // namespace imgpipe::sobel
namespace imgpipe {
template <>
struct EnumNames<sobel::Output> {
  static constexpr std::string_view value[] = {"magnitude", "x", "y", "z"};
};
}  // namespace imgpipe
