// A pipeline file together with an image to think about: of explain and check.
#pragma once

#include <optional>

#include "pipeline/commands/options.h"
#include "pipeline/config/config.h"
#include "pipeline/plan/plan.h"

namespace imgpipe::commands {

struct Subject {
  Config config;
  ImageDesc image;
  std::vector<ImageDesc> others;  ///< of the files that steps name by `with:`
  Graph graph;
};

/// The image is `image`, else the first of `inputs`, else the first of the file's inputs. Throws UsageError.
Subject load_subject(const std::string& file, const std::vector<std::string>& overrides,
                     const std::optional<ImageDesc>& image, const std::vector<std::string>& inputs);
/// From the options file, set, image. Throws UsageError.
Subject subject_of(const po::variables_map& values);

/// "8192x8192:uint16", "512x512x512:float32", "640x480:uint8:3". Throws UsageError.
ImageDesc parse_image(const std::string& text);

}  // namespace imgpipe::commands
