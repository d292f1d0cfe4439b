// expr: the user's own arithmetic.
#pragma once

#include "filters/base/filter.h"
#include "filters/pixel/expr/parse.h"

namespace imgpipe::expr {

/// An expression that has been parsed, and where it was written.
struct Expression {
  std::vector<Term> terms;
  Mark mark;  ///< of its first character
  Mark place(const Term& term) const { return {mark.line, mark.line > 0 ? mark.column + term.column - 1 : 0}; }
};

struct Params {
  std::vector<Expression> expression;
};

FilterSpec spec();

}  // namespace imgpipe::expr

namespace imgpipe {
template <>
struct ParamType<expr::Expression> {
  static constexpr const char* name = "expression";
  static expr::Expression parse(const Node& node);
  static std::string text(const expr::Expression&) { return ""; }
};
}  // namespace imgpipe
