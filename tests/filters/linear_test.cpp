#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Linear, IsGainAndOffset) {
  expect_definition(
      "- linear: {gain: 1.7, offset: -3.25}", [](double v, DType) { return v * 1.7 - 3.25; }, 2e-6, 1);
}
TEST(Linear, RoundsOnce) {
  // (1 + e)^2 - (1 + 2 e) is e^2: a product rounded on its own loses it.
  expect_values(run("- linear: {gain: 1.000244140625, offset: -1.00048828125}", row_of({1.000244140625})), {0x1p-24});
}
TEST(Linear, KeepsNativeValuesWithoutScaling) {
  expect_values(run("- linear: 2", image_of<std::uint16_t>(4, 1, {0, 1, 1000, 40000})), {0, 2, 2000, 65535});
}
TEST(Linear, PropagatesNanAndInfinity) {
  expect_values(run("- linear: {gain: -2, offset: 1}", row_of({nan_value, infinite, 3})), {nan_value, -infinite, -5});
}

}  // namespace imgpipe::test
