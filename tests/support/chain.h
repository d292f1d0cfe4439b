// Small images for tests, and chains of steps run on them.
#pragma once

#include <string>
#include <vector>

#include "io/image/image.h"
#include "pipeline/exec/executor.h"

namespace imgpipe::test {

/// Dense image of T from values in memory order (z, y, x, channel).
template <class T>
Image image_of(std::int64_t width, std::int64_t height, const std::vector<double>& values, int channels = 1,
               bool alpha = false, std::int64_t depth = 1) {
  ImageDesc desc;
  desc.dtype = dtype_of<T>();
  desc.extent = {width, height, depth};
  desc.channels = channels;
  desc.alpha = alpha;
  desc.volume = depth > 1;
  Image image(desc);
  for (std::size_t i = 0; i < values.size(); ++i) image.samples<T>()[i] = static_cast<T>(values[i]);
  return image;
}

ImageDesc make_desc(DType dtype, Extent extent, int channels = 1, bool alpha = false, bool volume = false);
Image copy_of(const Image& image);
/// Uniform over an integer dtype's range; floats mostly in [-0.25, 1.25].
Image random_image(const ImageDesc& desc, unsigned seed);
double sample(const Image& image, std::int64_t x, std::int64_t y, std::int64_t z = 0, int c = 0);
std::vector<double> samples(const Image& image);

struct ChainOptions {
  PlanOptions plan;
  bool gpu_plan = false;  ///< planned for the GPU's memory and tiles
};
/// Runs a YAML list of steps; `with: other0.tif` names others[0], and so on.
RunResult run_on(Executor& executor, const std::string& steps, const Image& input,
                 const std::vector<const Image*>& others = {}, const ChainOptions& options = {});
/// On the simple executor: the first result.
Image run(const std::string& steps, const Image& input, const std::vector<Image>& others = {});
Plan plan_of(const std::string& steps, const ImageDesc& input, const std::vector<ImageDesc>& others,
             const Machine& machine, const PlanOptions& options = {});

/// "" when both have the same description and bytes, else the first difference in words.
std::string difference(const Image& a, const Image& b);

}  // namespace imgpipe::test
