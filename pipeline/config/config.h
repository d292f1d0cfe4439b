// A pipeline file, checked: everything that can be wrong without looking at an image has been found.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filters/base/filter.h"
#include "filters/base/node.h"

namespace imgpipe {

struct Step {
  const FilterSpec* filter = nullptr;
  std::shared_ptr<const void> params;
  std::optional<Border> border;
  std::optional<double> constant;
  std::string as, from, with;  ///< "" when not given
  Mark mark;
};

struct Config {
  enum class Volume { automatic, stack, pages };
  enum class OnError { go_on, stop };

  std::string path;  ///< for messages
  std::vector<std::string> inputs;
  /// Result name and pattern; the name "" is the last step's result.
  std::vector<std::pair<std::string, std::string>> outputs;
  Border border = Border::reflect101;
  double constant = 0;
  Volume volume = Volume::automatic;
  OnError on_error = OnError::go_on;
  std::vector<Step> steps;
};

/// Throws UsageError `file:line:column: what is wrong, what is allowed`, always one line.
/// `overrides` are texts such as "steps.2.sigma=3" (steps count from 1) or "border=wrap".
Config load_config(const std::string& path, const std::vector<std::string>& overrides);
Config parse_config(const std::string& text, const std::string& path, const std::vector<std::string>& overrides);

/// What an output pattern can name.
struct OutputFacts {
  std::string stem, name, ext, dir;
  std::size_t index = 0;  ///< of the input, from 1
};
/// Replaces {stem} {name} {ext} {dir} {index}; {{ and }} are literal braces. Throws std::invalid_argument.
std::string expand_output(const std::string& pattern, const OutputFacts& facts);

}  // namespace imgpipe
