// Images wider than any block that the filters work in: far from the edges a cut-out gives the same as the whole.
#include <regex>

#include "filters/base/filter.h"
#include "tests/support/oracle.h"

namespace imgpipe::test {
namespace {

std::vector<std::string> local_steps() {
  std::vector<std::string> steps;
  for (const FilterSpec& filter : all_filters()) {
    if (filter.kind == Kind::reduction || filter.kind == Kind::geometry) continue;
    for (const std::string& example : filter.examples)
      if (!(filter.name == "expr" && std::regex_search(example, std::regex("\\b[xyz]\\b"))) &&  // knows its place
          example.find("other0") == std::string::npos && example.find('%') == std::string::npos && example != "otsu" &&
          example != "mean")
        steps.push_back("- " + filter.name + ": " + example);
  }
  steps.insert(steps.end(), {"- invert", "- sobel", "- median", "- median: {radius: [9, 2]}",
                             "- box: {radius: [12, 0]}", "- erode: {radius: [14, 3]}", "- gaussian: {sigma: [3, 0]}"});
  return steps;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void expect_same(const Image& whole, const Image& part, std::int64_t at, std::int64_t margin,
                 const std::string& where) {
  const Extent& e = part.desc().extent;
  for (std::int64_t z = 0; z < e.depth; ++z)
    for (std::int64_t y = 0; y < e.height; ++y)
      for (std::int64_t x = margin; x < e.width - margin; ++x)
        ASSERT_TRUE(same(sample(whole, at + x, y, z), sample(part, x, y, z)))
            << where << " at " << at + x << ", " << y << ": " << sample(whole, at + x, y, z) << " for "
            << sample(part, x, y, z);
}

/// Random, and in floats a few samples that are no number.
Image wide_image(DType type, const Extent& extent) {
  Image image = random_image(make_desc(type, extent, 1, false, extent.depth > 1), 12);
  if (type == DType::f32)
    for (int x : {40, 245, 530, 1030, 2060}) image.samples<float>()[x] = std::numeric_limits<float>::quiet_NaN();
  return image;
}

void expect_as_in_parts(Executor& executor, const std::string& step, const Image& image) {
  constexpr std::int64_t size = 90, margin = 16;
  const Image whole = std::move(run_on(executor, step, image).images.at(0));
  for (std::int64_t at : {0, 200, 480, 990, 2010, 2400}) {
    const std::int64_t left = std::min(at, image.desc().extent.width - size);
    const Image part = run("- crop: {x: " + std::to_string(left) + ", width: " + std::to_string(size) + "}", image);
    expect_same(whole, run(step, part), left, margin, executor.name() + " " + step + " on " + describe(image.desc()));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(WideImages, AreLikeTheirParts) {
  const auto simple = make_simple_executor(), cpu = make_cpu_executor();
  for (DType type : {DType::u8, DType::u16, DType::f32, DType::f64})
    for (const Extent& extent : {Extent{2501, 7}, Extent{1100, 3, 3}}) {
      const Image image = wide_image(type, extent);
      for (const std::string& step : local_steps())
        for (Executor* executor : {simple.get(), cpu.get()}) expect_as_in_parts(*executor, step, image);
    }
}

}  // namespace
}  // namespace imgpipe::test
