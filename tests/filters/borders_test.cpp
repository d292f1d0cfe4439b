// What all window filters share: borders are what their pictures show, and images smaller than the window work.
#include <map>

#include "filters/base/filter.h"
#include "tests/filters/window_oracle.h"

namespace imgpipe::test {
namespace {

// FS1: the sum of five pixels at the left edge of 1 2 3 4 5 tells all borders apart.
TEST(Borders, AreWhatTheirPicturesShow) {
  const Image ramp = image_of<float>(5, 1, {1, 2, 3, 4, 5});
  const std::vector<std::pair<std::string, double>> sums = {
      {"reflect", 9}, {"reflect101", 11}, {"replicate", 8}, {"wrap", 15}, {"constant", 6}};
  const std::vector<std::pair<std::string, double>> steps = {{"correlate1d: {kernel: [1, 1, 1, 1, 1]", 1},
                                                             {"convolve: {kernel: [1, 1, 1, 1, 1]", 1},
                                                             {"box: {size: [5, 1]", 5}};
  for (const auto& [border, sum] : sums)
    for (const auto& [step, pixels] : steps)
      for (const auto& executor : {make_simple_executor(), make_cpu_executor()}) {
        const Image out = std::move(run_on(*executor, "- " + step + ", border: " + border + "}", ramp).images.at(0));
        EXPECT_EQ(sample(out, 0, 0), static_cast<float>(sum / pixels)) << step << " " << border;
        // The far edge of the mirrored ramp.
        const Image mirrored =
            std::move(run_on(*executor, "- flip: x\n- " + step + ", border: " + border + "}", ramp).images.at(0));
        EXPECT_EQ(sample(mirrored, 4, 0), static_cast<float>(sum / pixels)) << step << " " << border;
      }
}

/// "[1, 1, …]", as many as a window of this radius has pixels.
std::string ones(int radius) {
  std::string text = "[1";
  for (int k = 0; k < 2 * radius; ++k) text += ", 1";
  return text + "]";
}

/// Parameters by which a filter keeps a constant image, by radius.
const std::map<std::string, std::vector<std::function<std::string(int)>>>& keepers() {
  const auto radius = [](int r) { return "radius: " + std::to_string(r); };
  const auto even = [](int r) { return "size: " + std::to_string(2 * r); };
  const auto ball = [](int r) { return "radius: " + std::to_string(r) + ", footprint: ball"; };
  const auto cross = [](int r) { return "radius: " + std::to_string(r) + ", footprint: cross"; };
  const auto sigma = [](int r) { return "sigma: " + std::to_string(r * 0.25); };
  const auto kernel = [](int r) { return "normalize: true, kernel: [" + ones(r) + ", " + ones(r) + "]"; };
  const auto row = [](int r) { return "kernel: " + ones(r) + ", axis: y"; };
  static const std::map<std::string, std::vector<std::function<std::string(int)>>> all = {
      {"box", {radius, even}},
      {"close", {radius, even, ball, cross}},
      {"convolve", {kernel}},
      {"correlate1d", {row}},
      {"dilate", {radius, even, ball, cross}},
      {"erode", {radius, even, ball, cross}},
      {"gaussian", {sigma}},
      {"median", {radius, ball}},
      {"open", {radius, even, ball, cross}},
      {"sobel", {[](int) { return "axis: magnitude"; }, [](int) { return "axis: y"; }}},
      {"unsharp", {sigma}},
  };
  return all;
}

/// What the filter makes of an image that is 128 everywhere.
double of_constant(const std::string& filter, int radius) {
  if (filter == "sobel") return 0;
  return filter == "correlate1d" ? std::min(128 * (2 * radius + 1), 255) : 128;
}

class TinyImages : public testing::TestWithParam<std::string> {};

// FS3
TEST_P(TinyImages, StayConstant) {
  const std::string filter = GetParam();
  ASSERT_TRUE(keepers().contains(filter)) << "needs parameters by which it keeps a constant image";
  const auto cpu = make_cpu_executor();
  for (int w : {1, 2, 3, 5})
    for (int h : {1, 2, 3, 5})
      for (int depth : {1, 2}) {
        Image in(make_desc(DType::u8, {w, h, depth}, 1, false, depth > 1));
        std::fill_n(in.samples<std::uint8_t>(), w * h * depth, std::uint8_t(128));
        for (const auto& parameters : keepers().at(filter))
          for (int radius = 1; radius <= 7; ++radius)
            for (const std::string& border : borders) {
              const std::string step = step_of(filter, parameters(radius), border, 128);
              const Image out = run(step, in);
              for (double v : samples(out)) ASSERT_EQ(v, of_constant(filter, radius)) << name_of(step, in);
              ASSERT_EQ(difference(out, run_on(*cpu, step, in).images.at(0)), "") << name_of(step, in);
            }
      }
}

std::vector<std::string> window_filters() {
  std::vector<std::string> names;
  for (const FilterSpec& filter : all_filters())
    if (filter.kind == Kind::neighbourhood || filter.kind == Kind::composite) names.push_back(filter.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Filters, TinyImages, testing::ValuesIn(window_filters()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace imgpipe::test
