// What add, subtract, multiply and divide share: a constant or a second image.
#pragma once

#include "filters/base/filter.h"

namespace imgpipe::arithmetic {

enum class Operation { add, subtract, multiply, divide };

struct Params {
  std::optional<double> value;
};

Value build(Builder& b, const StepInputs& in, const Params& p, Operation operation);
/// Declares one of the four.
FilterSpec declare_operation(const std::string& name, const std::string& summary, const std::string& formula,
                             Value (*build)(Builder&, const StepInputs&, const Params&));

}  // namespace imgpipe::arithmetic
