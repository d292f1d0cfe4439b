#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Convert, RoundsHalfToEvenAndSaturates) {
  for (DType to : all_dtypes) {
    const std::string step = "- convert: " + std::string(name(to));
    for (const PixelCase& c : pixel_cases()) {
      const Image image = case_image(c, 17);
      const Image out = run(step, image);
      const std::vector<double> before = samples(image), after = samples(out);
      for (std::size_t i = 0; i < before.size(); ++i)
        ASSERT_EQ(after[i], as_written(before[i], to)) << step << " on " << describe(image.desc());
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
TEST(Convert, RefusesUnknownTypes) { EXPECT_ANY_THROW(run("- convert: int64", row_of({1}))); }

}  // namespace imgpipe::test
