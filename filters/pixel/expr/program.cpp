#include "filters/pixel/expr/program.h"

#include <algorithm>

namespace imgpipe::expr {

int Program::depth() const {
  int now = 0, most = 0;
  for (const Instruction& i : code) {
    now += 1 - i.arity();
    most = std::max(most, now);
  }
  return most;
}

double Program::flops() const {
  double sum = 0;
  for (const Instruction& i : code)
    if (i.source == Instruction::Source::operation) sum += operations()[i.operation].flops;
  return sum;
}

bool Layout::reads_position() const {
  return std::any_of(programs.begin(), programs.end(), [](const Program& p) {
    return std::any_of(p.code.begin(), p.code.end(), [](const Instruction& i) { return i.is_position(); });
  });
}

}  // namespace imgpipe::expr
