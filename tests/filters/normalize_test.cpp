#include "tests/support/oracle.h"

namespace imgpipe::test {

/// NumPy's percentile (method linear) of the numbers.
double percentile(std::vector<double> values, double percent) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  std::sort(values.begin(), values.end());
  const double place = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double next = values[std::min(below + 1, values.size() - 1)];
  return values[below] + (place - static_cast<double>(below)) * (next - values[below]);
}

TEST(Normalize, StretchesPercentilesToTheNominalRange) {
  for (const auto& [low, high] : {std::pair(0.0, 100.0), std::pair(2.0, 98.5), std::pair(10.0, 60.0)})
    for (const PixelCase& c : pixel_cases()) {
      if (c.extent.pixels() < 4) continue;
      const Image image = case_image(c, 77);
      const std::string step = "- normalize: {low: " + std::to_string(low) + "%, high: " + std::to_string(high) + "%}";
      const Image out = run(step, image);
      std::vector<double> colours;
      const std::vector<double> before = samples(image), after = samples(out);
      for (std::size_t i = 0; i < before.size(); ++i)
        if (!(c.alpha() && static_cast<int>(i % c.channels) == c.channels - 1)) colours.push_back(before[i]);
      const double a = percentile(colours, low), b = percentile(colours, high);
      const NominalRange r = nominal_range(c.dtype);
      for (std::size_t i = 0; i < before.size(); ++i) {
        const bool alpha = c.alpha() && static_cast<int>(i % c.channels) == c.channels - 1;
        const double expected =
            alpha
                ? before[i]
                : as_written(r.black + std::clamp((before[i] - a) / (b - a), 0.0, 1.0) * (r.white - r.black), c.dtype);
        // float32 arithmetic: 24 bits of the range.
        ASSERT_NEAR(after[i], expected,
                    is_float(c.dtype)                                ? 1e-6
                    : c.dtype == DType::u32 || c.dtype == DType::i32 ? 2
                                                                     : 1)
            << step << " on " << describe(image.desc());
      }
    }
}
TEST(Normalize, OfAConstantImageIsBlack) {
  expect_values(run("- normalize", image_of<std::uint8_t>(2, 2, {77, 77, 77, 77})), {0, 0, 0, 0});
  expect_values(run("- normalize", image_of<std::int16_t>(1, 1, {5})), {-32768});
}
TEST(Normalize, OfOneLimitForBothIsAStep) {
  std::vector<double> values(19, 7);
  values.push_back(9);
  values.push_back(3);
  std::vector<double> expected(19, 0);
  expected.push_back(255);
  expected.push_back(0);
  expect_values(run("- normalize: {low: 10%, high: 80%}", image_of<std::uint8_t>(21, 1, values)), expected);
  for (double& v : expected) v /= 255;
  expect_values(run("- normalize: {low: 10%, high: 80%}", row_of(values)), expected);
}
TEST(Normalize, LeavesNanOutAndKeepsIt) {
  expect_values(run("- normalize", row_of({nan_value, 2, 4, 3})), {nan_value, 0, 1, 0.5}, 1e-7);
}
TEST(Normalize, TakesValuesAndARange) {
  expect_values(run("- normalize: {low: 10, high: 20}", row_of({0, 10, 15, 30})), {0, 0, 0.5, 1}, 1e-7);
  expect_values(run("- normalize: {to: [-1, 3]}", row_of({0, 5, 10})), {-1, 1, 3}, 1e-6);
}
TEST(Normalize, RefusesAnEmptyRange) {
  for (const char* step : {"- normalize: {low: 5, high: 5}", "- normalize: {low: 90%, high: 10%}",
                           "- normalize: {to: [1]}", "- normalize: {to: [3, 1]}"})
    EXPECT_ANY_THROW(run(step, row_of({1, 2}))) << step;
}

}  // namespace imgpipe::test
