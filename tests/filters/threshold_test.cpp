#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Threshold, MarksWhatIsAbove) {
  const auto define = [](double v, DType) { return v > 0.5 ? 255.0 : 0.0; };
  expect_definition("- threshold: 0.5", define, 0, 0, DType::u8);
}
TEST(Threshold, MarksABand) {
  expect_values(run("- threshold: {low: 10, high: 20}", image_of<std::uint8_t>(5, 1, {9, 10, 11, 20, 21})),
                {0, 0, 255, 255, 0});
}
TEST(Threshold, IsNotRoundedOnIntegers) {
  expect_values(run("- threshold: 10.6", image_of<std::uint16_t>(2, 1, {10, 11})), {0, 255});
}
TEST(Threshold, TakesNanAsBackground) {
  expect_values(run("- threshold: 10", row_of({nan_value, 5, 15})), {0, 0, 255});
}
TEST(Threshold, ByAPercentageOfThePixels) {
  expect_values(run("- threshold: 50%", row_of({1, 2, 3, 4, 100})), {0, 0, 0, 255, 255});
  // Between order statistics: the 25 % point of 0, 10 is 2.5.
  expect_values(run("- threshold: 25%", row_of({0, 10})), {0, 255});
}
TEST(Threshold, ByTheMean) { expect_values(run("- threshold: mean", row_of({0, 1, 2, 9})), {0, 0, 0, 255}); }
TEST(Threshold, RefusesOtherWords) {
  EXPECT_ANY_THROW(run("- threshold: otsi", row_of({1})));
  EXPECT_ANY_THROW(run("- threshold", row_of({1})));
  EXPECT_ANY_THROW(run("- threshold: 120%", row_of({1})));
}

}  // namespace imgpipe::test
