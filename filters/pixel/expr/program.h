// An expression whose names are known: what the CPU evaluates, and what the device source is made of.
#pragma once

#include <optional>
#include <vector>

#include "filters/pixel/expr/parse.h"

namespace imgpipe::expr {

struct Instruction {
  enum class Source { operation, constant, sample, x, y, z, width, height, depth };
  Source source = Source::constant;
  int operation = -1;  ///< index into `operations()`
  double constant = 0;
  int image = 0;                    ///< of a sample: number of the input
  std::optional<int> channel = {};  ///< of a sample; without one, the channel that is computed
  int arity() const { return source == Source::operation ? operations()[operation].arity : 0; }
  bool is_position() const { return source >= Source::x; }
};

/// In postfix order: an operation takes the latest results that are not consumed yet.
struct Program {
  std::vector<Instruction> code;
  int depth() const;  ///< most values that wait at once
  double flops() const;
};

/// What the programs of a step compute: output channel c by programs[c], or every one by the only program. `alpha` is
/// the channel of the first image that goes unchanged to the last output.
struct Layout {
  std::vector<Program> programs;
  std::vector<int> channels;  ///< of each image
  int colours = 1;            ///< to compute
  std::optional<int> alpha;
  const Program& of(int colour) const { return programs[programs.size() == 1 ? 0 : colour]; }
  bool reads_position() const;
  /// The channel that a sample is read from: an image with one channel serves all.
  int channel_of(const Instruction& sample, int colour) const {
    return sample.channel ? *sample.channel : channels[sample.image] == 1 ? 0 : colour;
  }
};

}  // namespace imgpipe::expr
