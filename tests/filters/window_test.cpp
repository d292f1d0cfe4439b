#include <fmt/format.h>

#include "tests/support/oracle.h"

namespace imgpipe::test {

/// The value at this part of the dtype's nominal range.
double at(DType type, double part) {
  const NominalRange r = nominal_range(type);
  return r.black + part * (r.white - r.black);
}

class WindowOf : public testing::TestWithParam<DType> {};

TEST_P(WindowOf, MapsARangeToTheNominalRange) {
  const DType dtype = GetParam();
  const double low = at(dtype, 0.2), high = at(dtype, 0.7);
  const Image image = random_image(make_desc(dtype, {31, 9}, 4, true), 5);
  const Image out = run(fmt::format("- window: {{low: {:.17g}, high: {:.17g}}}", low, high), image);
  ASSERT_EQ(out.desc().dtype, dtype);
  const std::vector<double> before = samples(image), after = samples(out);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double expected = i % 4 == 3 ? before[i] : at(dtype, std::clamp((before[i] - low) / (high - low), 0.0, 1.0));
    // Four roundings for floats; elsewhere one to the nearest level.
    ASSERT_NEAR(after[i], expected, is_float(dtype) ? 3e-7 : i % 4 == 3 ? 0 : 0.52) << i << " from " << before[i];
  }
}
INSTANTIATE_TEST_SUITE_P(Dtypes, WindowOf, testing::ValuesIn(all_dtypes),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Window, KeepsNanAndLimitsInfinity) {
  expect_values(run("- window: {low: 2, high: 4}", row_of({nan_value, infinite, -infinite, 3})),
                {nan_value, 1, 0, 0.5});
}
TEST(Window, TakesCenterAndWidth) {
  expect_values(run("- window: {center: 40, width: 80}", image_of<std::uint8_t>(5, 1, {0, 20, 40, 80, 200})),
                {0, 64, 128, 255, 255}, 1);
  expect_values(run("- window: {center: 40, width: 80}", image_of<std::int16_t>(3, 1, {-5, 0, 80})),
                {-32768, -32768, 32767});
}
TEST(Window, RefusesHalfARange) {
  for (const char* step :
       {"- window", "- window: {center: 4}", "- window: {low: 4, high: 4}", "- window: {low: 1, width: 3}"})
    EXPECT_ANY_THROW(run(step, row_of({1}))) << step;
}

}  // namespace imgpipe::test
