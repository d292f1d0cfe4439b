#include "pipeline/commands/subject.h"

#include <cstdio>

#include "io/image/errors.h"
#include "pipeline/batch/source.h"
#include "pipeline/plan/chain.h"

namespace imgpipe::commands {
namespace {

ImageDesc first_input(const Config& config, const std::vector<std::string>& inputs) {
  if (inputs.empty())
    throw UsageError(config.path +
                     ": there is no input to plan for: name one, or make one up by --image 8192x8192:uint16");
  const Listing listing = list_inputs(inputs, config.volume == Config::Volume::stack);
  return source_info(listing.items[0], config.volume).images[0];
}

}  // namespace

ImageDesc parse_image(const std::string& text) {
  const UsageError wrong("--image: must be WIDTHxHEIGHT[xDEPTH]:DTYPE[:CHANNELS], such as 8192x8192:uint16, got '" +
                         text + "'");
  ImageDesc desc;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw wrong;
  long long w = 0, h = 0, d = 1;
  char end = 0;
  const int count = std::sscanf(text.substr(0, colon).c_str(), "%lldx%lldx%lld%c", &w, &h, &d, &end);
  if (count < 2 || count > 3 || w < 1 || h < 1 || d < 1 || w > 1 << 30 || h > 1 << 30 || d > 1 << 30) throw wrong;
  desc.extent = {w, h, d};
  desc.volume = count == 3;
  const std::size_t second = text.find(':', colon + 1);
  const auto dtype = dtype_from_name(text.substr(colon + 1, second == std::string::npos ? second : second - colon - 1));
  if (!dtype) throw wrong;
  desc.dtype = *dtype;
  if (second != std::string::npos) desc.channels = std::atoi(text.c_str() + second + 1);
  if (desc.channels < 1 || desc.channels > 64) throw wrong;
  desc.alpha = desc.channels == 2 || desc.channels == 4;
  return desc;
}

Subject load_subject(const std::string& file, const std::vector<std::string>& overrides,
                     const std::optional<ImageDesc>& image, const std::vector<std::string>& inputs) {
  Subject subject{load_config(file, overrides), {}, {}, {}};
  try {
    subject.image = image ? *image : first_input(subject.config, inputs.empty() ? subject.config.inputs : inputs);
    for (const std::string& path : with_files(subject.config))
      subject.others.push_back(source_info({{path}, path, {}}, subject.config.volume).images.at(0));
    subject.graph = build_graph(subject.config, subject.image, subject.others);
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
  return subject;
}

Subject subject_of(const po::variables_map& values) {
  if (!values.count("file")) throw UsageError("name a pipeline file; `--help` shows how");
  const auto files = values["file"].as<std::vector<std::string>>();
  std::vector<std::string> overrides;
  if (values.count("set")) overrides = values["set"].as<std::vector<std::string>>();
  std::optional<ImageDesc> image;
  if (values.count("image")) image = parse_image(values["image"].as<std::string>());
  return load_subject(files[0], overrides, image, {files.begin() + 1, files.end()});
}

}  // namespace imgpipe::commands
