#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Clamp, LimitsToARange) {
  expect_definition(
      "- clamp: {low: 0.25, high: 90}", [](double v, DType) { return std::min(std::max(v, 0.25), 90.0); }, 1e-7, 0);
}
TEST(Clamp, LimitsOneSideAlone) {
  expect_values(run("- clamp: {low: 0}", row_of({-1, 0.5, 7})), {0, 0.5, 7});
  expect_values(run("- clamp: {high: 1}", row_of({-1, 0.5, 7})), {-1, 0.5, 1});
}
TEST(Clamp, KeepsNan) {
  expect_values(run("- clamp: {low: 0, high: 1}", row_of({nan_value, infinite, -infinite})), {nan_value, 1, 0});
}
TEST(Clamp, ToOneValueIsThatValue) {
  expect_values(run("- clamp: {low: 3, high: 3}", row_of({-1, 3, 7, nan_value})), {3, 3, 3, nan_value});
}
TEST(Clamp, RefusesARangeThatIsNone) {
  EXPECT_ANY_THROW(run("- clamp", row_of({1})));
  EXPECT_ANY_THROW(run("- clamp: {low: 2, high: 1}", row_of({1})));
}

}  // namespace imgpipe::test
