#include <cstdio>

#include "io/image/errors.h"
#include "pipeline/batch/output.h"
#include "pipeline/batch/source.h"
#include "pipeline/commands/message.h"
#include "pipeline/commands/options.h"
#include "pipeline/plan/chain.h"

namespace imgpipe::commands {
namespace {

/// The first fault of an item, by its header alone; "" when there is none.
std::string fault_of(const Config& config, const WorkItem& item, const std::vector<ImageDesc>& others) {
  try {
    const SourceInfo info = source_info(item, config.volume);
    for (const ImageDesc& desc : info.images) {
      const Graph graph = build_graph(config, desc, others);
      for (std::size_t r = 0; r < item.outputs.size(); ++r) {
        const std::string reason =
            cannot_write(item.outputs[r], graph.nodes[graph.results[r].value].value.desc, info.images.size());
        if (!reason.empty()) return item.outputs[r] + ": " + reason;
      }
    }
  } catch (const InputError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return item.label + ": " + error.what();
  }
  return "";
}

/// What the files named by `with` hold; one that cannot be read is a fault of the pipeline file.
std::vector<ImageDesc> second_images(const Config& config) {
  std::vector<ImageDesc> others;
  try {
    for (const std::string& path : with_files(config))
      others.push_back(source_info({{path}, path, {}}, config.volume).images.at(0));
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
  return others;
}

std::string counted(std::size_t count, const char* word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

int check_inputs(const Config& config) {
  if (config.inputs.empty()) throw UsageError(config.path + ": no `input`: name it in the file or by --input");
  Listing listing = list_inputs(config.inputs, config.volume == Config::Volume::stack);
  if (!config.outputs.empty()) plan_outputs(listing, config.outputs, with_files(config));
  const std::vector<ImageDesc> others = second_images(config);
  for (const std::string& warning : listing.warnings) tell("warning: " + warning);
  std::size_t faults = 0;
  for (const WorkItem& item : listing.items) {
    const std::string fault = fault_of(config, item, others);
    if (fault.empty()) continue;
    tell("error: " + fault);
    ++faults;
  }
  std::printf("%s: %s, %s, %zu cannot be processed\n", printable(config.path).c_str(),
              counted(config.steps.size(), "step").c_str(), counted(listing.items.size(), "input").c_str(), faults);
  return faults ? some_failed : done;
}

}  // namespace

int check(const Arguments& arguments) {
  CommandLine line(
      "imgpipe check FILE.yaml... [OPTIONS]",
      "Checks pipeline files: keys, types, ranges and names. With --input or --inputs also the headers of the\n"
      "inputs: whether each step takes such images and each output format can hold the result.");
  line.positional("file", -1);
  line.add()("input,i", po::value<std::vector<std::string>>()->composing(), "check the headers of these files")(
      "inputs", "check the headers of the file's own inputs")("set", po::value<std::vector<std::string>>()->composing(),
                                                              "change the pipeline: steps.2.sigma=3");
  const auto values = line.parse(arguments);
  if (!values) return done;
  if (!values->count("file")) throw UsageError("check: name a pipeline file; `imgpipe check --help` shows how");
  std::vector<std::string> overrides;
  if (values->count("set")) overrides = (*values)["set"].as<std::vector<std::string>>();
  int worst = done;
  for (const std::string& path : (*values)["file"].as<std::vector<std::string>>()) {
    Config config = load_config(path, overrides);
    if (values->count("input")) config.inputs = (*values)["input"].as<std::vector<std::string>>();
    if (values->count("input") || values->count("inputs"))
      worst = std::max(worst, check_inputs(config));
    else
      std::printf("%s: %s, no fault\n", printable(path).c_str(), counted(config.steps.size(), "step").c_str());
  }
  return worst;
}

}  // namespace imgpipe::commands
