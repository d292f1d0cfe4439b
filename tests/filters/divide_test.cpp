#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Divide, AppliesAConstant) {
  expect_definition(
      "- divide: 3.7", [](double v, DType) { return v / 3.7; }, 3e-7, 1);
}
TEST(Divide, AppliesASecondImagePixelByPixel) {
  const Image a = row_of({6, -2, 0, 1e30}), b = row_of({4, 0.5, 3, -1e30});
  std::vector<Image> others;
  others.push_back(copy_of(b));
  expect_values(run("- divide: {with: other0.tif}", a, others),
                {float(6.0f / 4.0f), float(-2.0f / 0.5f), float(0.0f / 3.0f), float(1e30f / -1e30f)});
}
TEST(Divide, UsesAGraySecondImageForEveryColourAndLeavesAlphaAlone) {
  const Image rgba = image_of<float>(1, 1, {1, 2, 3, 0.5}, 4, true);
  std::vector<Image> others;
  others.push_back(row_of({4}));
  expect_values(run("- divide: {with: other0.tif}", rgba, others), {1.0 / 4.0, 2.0 / 4.0, 3.0 / 4.0, 0.5});
}
TEST(Divide, RefusesAnImageOfAnotherSizeOrChannelCount) {
  std::vector<Image> wide, deep;
  wide.push_back(row_of({1, 2}));
  deep.push_back(image_of<float>(1, 1, {1, 2, 3}, 3));
  EXPECT_ANY_THROW(run("- divide: {with: other0.tif}", row_of({1}), wide));
  EXPECT_ANY_THROW(run("- divide: {with: other0.tif}", row_of({1}), deep));
}
TEST(Divide, ByZeroIsInfiniteOrNan) {
  const std::vector<double> expected = {infinite, -infinite, nan_value, nan_value, infinite};
  const Image image = row_of({6, -2, 0, nan_value, infinite});
  std::vector<Image> zeros;
  zeros.push_back(row_of({0, 0, 0, 0, 0}));
  expect_values(run("- divide: 0", image), expected);
  expect_values(run("- divide: {with: other0.tif}", image, zeros), expected);
  const RunResult bytes = run_on(*make_simple_executor(), "- divide: 0", image_of<std::uint8_t>(3, 1, {0, 1, 255}));
  expect_values(bytes.images.at(0), {0, 255, 255});
  EXPECT_EQ(bytes.counts.nans, 1u);
  EXPECT_EQ(bytes.counts.clipped, 2u);
}
TEST(Divide, NeedsExactlyOneOperand) {
  EXPECT_ANY_THROW(run("- divide", row_of({1})));
  EXPECT_ANY_THROW(run("- divide: {value: 1, with: other0.tif}", row_of({1})));
}

}  // namespace imgpipe::test
