#include "tests/support/oracle.h"

namespace imgpipe::test {

class GammaOf : public testing::TestWithParam<double> {};

TEST_P(GammaOf, IsAPowerOnTheNominalRange) {
  const double g = GetParam();
  const auto define = [g](double v, DType type) {
    const double white = nominal_range(type).white;
    return std::copysign(white * std::pow(std::abs(v) / white, g), v);
  };
  // float32: 2 ulp of the power and 3 roundings around it; integers of 32 bits are computed in float64.
  expect_definition("- gamma: " + std::to_string(g), define, 5e-7 * std::max(1.0, g), 1);
}
INSTANTIATE_TEST_SUITE_P(Exponents, GammaOf, testing::Values(0.4, 0.8, 1.0, 2.2));

TEST(Gamma, KeepsBlackAndWhiteExactly) {
  for (const char* g : {"0.45", "2.2"}) {
    expect_values(run(std::string("- gamma: ") + g, image_of<std::uint8_t>(2, 1, {0, 255})), {0, 255});
    expect_values(run(std::string("- gamma: ") + g, image_of<std::uint16_t>(2, 1, {0, 65535})), {0, 65535});
  }
}
TEST(Gamma, KeepsNanInfinityAndSign) {
  expect_values(run("- gamma: 2", row_of({nan_value, infinite, -infinite, -0.5})),
                {nan_value, infinite, -infinite, -0.25}, 1e-7);
}
TEST(Gamma, RefusesZeroAndNegativeExponents) {
  EXPECT_ANY_THROW(run("- gamma: 0", row_of({1})));
  EXPECT_ANY_THROW(run("- gamma: -1", row_of({1})));
  EXPECT_ANY_THROW(run("- gamma", row_of({1})));
}

}  // namespace imgpipe::test
