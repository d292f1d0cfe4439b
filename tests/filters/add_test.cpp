#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Add, AppliesAConstant) {
  expect_definition(
      "- add: 3.7", [](double v, DType) { return v + 3.7; }, 3e-7, 1);
}
TEST(Add, AppliesASecondImagePixelByPixel) {
  const Image a = row_of({6, -2, 0, 1e30}), b = row_of({4, 0.5, 3, -1e30});
  std::vector<Image> others;
  others.push_back(copy_of(b));
  expect_values(run("- add: {with: other0.tif}", a, others),
                {float(6.0f + 4.0f), float(-2.0f + 0.5f), float(0.0f + 3.0f), float(1e30f + -1e30f)});
}
TEST(Add, UsesAGraySecondImageForEveryColourAndLeavesAlphaAlone) {
  const Image rgba = image_of<float>(1, 1, {1, 2, 3, 0.5}, 4, true);
  std::vector<Image> others;
  others.push_back(row_of({4}));
  expect_values(run("- add: {with: other0.tif}", rgba, others), {1.0 + 4.0, 2.0 + 4.0, 3.0 + 4.0, 0.5});
}
TEST(Add, RefusesAnImageOfAnotherSizeOrChannelCount) {
  std::vector<Image> wide, deep;
  wide.push_back(row_of({1, 2}));
  deep.push_back(image_of<float>(1, 1, {1, 2, 3}, 3));
  EXPECT_ANY_THROW(run("- add: {with: other0.tif}", row_of({1}), wide));
  EXPECT_ANY_THROW(run("- add: {with: other0.tif}", row_of({1}), deep));
}
TEST(Add, NeedsExactlyOneOperand) {
  EXPECT_ANY_THROW(run("- add", row_of({1})));
  EXPECT_ANY_THROW(run("- add: {value: 1, with: other0.tif}", row_of({1})));
}

}  // namespace imgpipe::test
