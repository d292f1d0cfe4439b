#include "tests/support/chain.h"

#include <fmt/format.h>

#include <cstring>
#include <random>

#include "pipeline/plan/chain.h"

namespace imgpipe::test {

ImageDesc make_desc(DType dtype, Extent extent, int channels, bool alpha, bool volume) {
  ImageDesc desc;
  desc.dtype = dtype;
  desc.extent = extent;
  desc.channels = channels;
  desc.alpha = alpha;
  desc.volume = volume;
  return desc;
}

Image copy_of(const Image& image) {
  Image copy(image.desc());
  std::memcpy(copy.data(), image.data(), static_cast<std::size_t>(image.desc().bytes()));
  return copy;
}

Image random_image(const ImageDesc& desc, unsigned seed) {
  Image image(desc);
  std::mt19937_64 random(seed);
  visit_dtype(desc.dtype, [&](auto t) {
    using T = decltype(t);
    T* samples = image.samples<T>();
    for (std::int64_t i = 0; i < desc.samples(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        samples[i] = static_cast<T>((random() >> 11) * 0x1p-53 * 1.5 - 0.25);
      else
        samples[i] = static_cast<T>(random());
    }
  });
  return image;
}

double sample(const Image& image, std::int64_t x, std::int64_t y, std::int64_t z, int c) {
  const ConstImageView view = image.view();
  return visit_dtype(view.dtype,
                     [&](auto t) { return static_cast<double>(view.samples<decltype(t)>()[view.offset(x, y, z, c)]); });
}

std::vector<double> samples(const Image& image) {
  std::vector<double> values;
  visit_dtype(image.desc().dtype, [&](auto t) {
    for (std::int64_t i = 0; i < image.desc().samples(); ++i)
      values.push_back(static_cast<double>(image.samples<decltype(t)>()[i]));
  });
  return values;
}

Plan plan_of(const std::string& steps, const ImageDesc& input, const std::vector<ImageDesc>& others,
             const Machine& machine, const PlanOptions& options) {
  const std::string text = steps.empty() ? "steps: []\n" : "steps:\n" + steps + "\n";
  const Config config = parse_config(text, "test.yaml", {});
  return make_plan(build_graph(config, input, others), machine, options);
}

RunResult run_on(Executor& executor, const std::string& steps, const Image& input,
                 const std::vector<const Image*>& others, const ChainOptions& options) {
  std::vector<ImageDesc> descs;
  std::vector<const Image*> inputs{&input};
  for (const Image* other : others) {
    descs.push_back(other->desc());
    inputs.push_back(other);
  }
  const Machine machine = options.gpu_plan ? Machine::gpu() : executor.machine();
  return executor.run(plan_of(steps, input.desc(), descs, machine, options.plan), inputs);
}

Image run(const std::string& steps, const Image& input, const std::vector<Image>& others) {
  std::vector<const Image*> pointers;
  for (const Image& other : others) pointers.push_back(&other);
  const auto executor = make_simple_executor();
  return std::move(run_on(*executor, steps, input, pointers).images.at(0));
}

std::string difference(const Image& a, const Image& b) {
  if (describe(a.desc()) != describe(b.desc())) return describe(a.desc()) + " against " + describe(b.desc());
  if (!(a.desc() == b.desc())) return "descriptions differ";
  const std::size_t size = size_of(a.desc().dtype);
  for (std::int64_t i = 0; i < a.desc().samples(); ++i) {
    if (std::memcmp(a.data() + i * size, b.data() + i * size, size) == 0) continue;
    const int c = static_cast<int>(i % a.desc().channels);
    const std::int64_t p = i / a.desc().channels;
    const std::int64_t x = p % a.desc().extent.width, row = p / a.desc().extent.width;
    const std::int64_t y = row % a.desc().extent.height, z = row / a.desc().extent.height;
    return fmt::format("sample ({}, {}, {}) channel {}: {:.17g} against {:.17g}", x, y, z, c, sample(a, x, y, z, c),
                       sample(b, x, y, z, c));
  }
  return "";
}

}  // namespace imgpipe::test
