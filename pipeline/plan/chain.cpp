#include "pipeline/plan/chain.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "io/image/errors.h"

namespace imgpipe {
namespace {

bool is_file(const Config& config, const std::string& with) {
  if (with == "input") return false;
  return std::none_of(config.steps.begin(), config.steps.end(), [&](const Step& s) { return s.as == with; });
}

std::string place(const Config& config, const Step& step) {
  if (step.mark.line == 0) return config.path;
  return config.path + ":" + std::to_string(step.mark.line) + ":" + std::to_string(step.mark.column);
}

Builder::StepContext context_of(const Config& config, const Step& step, int number) {
  return {number, step.filter->name, step.border, step.constant, config.border, config.constant};
}

/// What is written has the dtype it claims: one rounding at the end, unless it is whole already.
Value as_written(Builder& b, Value value) {
  const ValueInfo& info = b.info(value);
  return info.whole && info.storage() == info.desc.dtype ? value : b.cast(value, info.desc.dtype);
}

}  // namespace

std::vector<std::string> with_files(const Config& config) {
  std::vector<std::string> files;
  for (const Step& step : config.steps)
    if (!step.with.empty() && is_file(config, step.with) &&
        std::find(files.begin(), files.end(), step.with) == files.end())
      files.push_back(step.with);
  return files;
}

Graph build_graph(const Config& config, const ImageDesc& image, std::span<const ImageDesc> others) {
  Builder b;
  const Value input = b.input(image, 0);
  std::map<std::string, Value> named{{"input", input}};
  const std::vector<std::string> files = with_files(config);
  for (std::size_t i = 0; i < files.size(); ++i) named[files[i]] = b.input(others[i], static_cast<int>(i) + 1);

  Value current = input;
  int number = 0;
  for (const Step& step : config.steps) {
    b.begin_step(context_of(config, step, ++number));
    StepInputs inputs{step.from.empty() ? current : named.at(step.from), {}, {}};
    if (!step.with.empty()) inputs.with = named.at(step.with);
    for (const Mention& mention : step.filter->mentions(step.params.get()))
      inputs.named[mention.name] = named.at(mention.name);
    try {
      current = step.filter->build(b, inputs, step.params.get());
    } catch (const std::invalid_argument& error) {
      throw UsageError(place(config, step) + ": " + step.filter->name + ": " + error.what());
    }
    if (!step.as.empty()) named[step.as] = current;
  }
  b.begin_step({0, "output", {}, {}, config.border, config.constant});
  if (config.outputs.empty()) b.result("", as_written(b, current));
  for (const auto& [name, pattern] : config.outputs) {
    const bool last = name.empty() || (name == "result" && !named.count(name));
    b.result(name, as_written(b, last ? current : named.at(name)));
  }
  return std::move(b).finish();
}

}  // namespace imgpipe
