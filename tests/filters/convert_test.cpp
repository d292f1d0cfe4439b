#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Convert, RoundsHalfToEvenAndSaturates) {
  for (DType to : all_dtypes) {
    const std::string step = "- convert: " + std::string(name(to));
    for (const PixelCase& c : pixel_cases()) {
      const Image image = case_image(c, 17);
      const Image out = run(step, image);
      const std::vector<double> before = samples(image), after = samples(out);
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (is_alpha(c, i)) continue;
        ASSERT_EQ(after[i], as_written(before[i], to)) << step << " on " << describe(image.desc());
      }
    }
  }
}
TEST(Convert, OfTiesIsToTheEvenNeighbour) {
  expect_values(run("- convert: uint8", row_of({0.5, 1.5, 2.5, 3.5, 254.5})), {0, 2, 2, 4, 254});
}
TEST(Convert, OfTiesIsToTheEvenNeighbourInEveryDtype) {
  const std::vector<double> ties = {0.5, 1.5, 2.5, 3.5, 100.5, 101.5, -0.5, -1.5, -2.5};
  for (DType to : all_dtypes) {
    std::vector<double> even = {0, 2, 2, 4, 100, 102, 0, -2, -2};
    if (nominal_range(to).black == 0)
      for (double& v : even) v = std::max(v, 0.0);
    const std::string step = "- convert: " + std::string(name(to));
    expect_values(run(step, image_of<double>(9, 1, ties)), is_float(to) ? ties : even);
    expect_values(run(step, image_of<float>(9, 1, ties)), is_float(to) ? ties : even);
  }
}
TEST(Convert, OfNanIsZeroAndOfInfinityTheLimit) {
  expect_values(run("- convert: uint8", row_of({nan_value, infinite, -infinite})), {0, 255, 0});
  expect_values(run("- convert: int16", row_of({nan_value, infinite, -infinite})), {0, 32767, -32768});
  expect_values(run("- convert: int32", row_of({nan_value, infinite, -infinite, 4e9})),
                {0, 2147483647, -2147483648.0, 2147483647});
}
TEST(Convert, CountsWhatItClipsAndNan) {
  const auto simple = make_simple_executor();
  const RunResult result = run_on(*simple, "- convert: uint8", row_of({nan_value, 300, -1, 7, 255.4}));
  EXPECT_EQ(result.counts.clipped, 2u);
  EXPECT_EQ(result.counts.nans, 1u);
}
TEST(Convert, AlphaKeepsItsMeaning) {
  const Image image = image_of<std::uint8_t>(3, 1, {1, 255, 2, 128, 3, 0}, 2, true);
  expect_values(run("- convert: uint16", image), {1, 65535, 2, 32896, 3, 0});
  expect_values(run("- convert: uint32", image), {1, 4294967295.0, 2, 2155905152.0, 3, 0});
  expect_values(run("- convert: int16", image), {1, 32767, 2, 16448, 3, 0});
  expect_values(run("- convert: float64", image), {1, 1, 2, 128.0 / 255, 3, 0});
  const Image deep = image_of<std::uint16_t>(2, 1, {300, 65535, 7, 32768}, 2, true);
  expect_values(run("- convert: uint8", deep), {255, 255, 7, 128});
  expect_values(run("- threshold: 100", deep), {255, 255, 0, 128});
}
TEST(Convert, RefusesUnknownTypes) { EXPECT_ANY_THROW(run("- convert: int64", row_of({1}))); }

}  // namespace imgpipe::test
