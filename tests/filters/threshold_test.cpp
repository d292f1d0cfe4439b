#include "pipeline/exec/cuda/executor.h"
#include "tests/support/oracle.h"
#include "tests/support/twin_device.h"

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
// A limit just below a value is not rounded onto it.
TEST(Threshold, IsNotRoundedToFloat32) {
  const Image image = image_of<std::uint16_t>(3, 1, {9, 10, 11});
  expect_values(run("- threshold: 9.9999999999", image), {0, 255, 255});
  expect_values(run("- threshold: 10.0000000001", image), {0, 0, 255});
  expect_values(run("- threshold: {low: 8.9999999999, high: 9.9999999999}", image), {255, 0, 0});
  expect_values(run("- threshold: -1e-60", row_of({-1, 0, 1})), {0, 255, 255});
  expect_values(run("- threshold: 1e60", row_of({1, infinite})), {0, 255});
  expect_values(run("- threshold: -1e60", row_of({-infinite, -1})), {0, 255});
}
TEST(Threshold, OfAWhiteImageWithOneDarkPixelByTheMean) {
  std::vector<double> white(64 * 64, 65535);
  white[7] = 65534;
  const Image image = image_of<std::uint16_t>(64, 64, white);
  const std::shared_ptr<Executor> cpu = make_cpu_executor();
  const std::shared_ptr<Executor> all[] = {make_simple_executor(), cpu, make_cuda_executor(make_twin_device(), cpu)};
  for (const auto& executor : all) {
    const RunResult result = run_on(*executor, "- threshold: mean", image);
    EXPECT_TRUE(result.notes.empty()) << executor->name();
    const std::vector<double> mask = samples(result.images.at(0));
    for (std::size_t i = 0; i < mask.size(); ++i) ASSERT_EQ(mask[i], i == 7 ? 0 : 255) << executor->name() << " " << i;
  }
}
TEST(Threshold, ByAPercentageJustBelowAValue) {
  std::vector<double> row(1001, 65535);
  row[0] = 65534;
  const std::vector<double> mask = samples(run("- threshold: 0.0999%", image_of<std::uint16_t>(1001, 1, row)));
  EXPECT_EQ(mask[0], 0);
  EXPECT_EQ(mask[1], 255);
}
// TH7: NaN is background in a mask and in its inverse.
TEST(Threshold, TakesNanAsBackgroundOnEitherSide) {
  expect_values(run("- threshold: 10", row_of({nan_value, 5, 15})), {0, 0, 255});
  expect_values(run("- threshold: {high: 10}", row_of({nan_value, 5, 15})), {0, 255, 0});
  expect_values(run("- threshold: mean", row_of({nan_value, 5, 15})), {0, 0, 255});
  expect_values(run("- threshold: mean", row_of({nan_value, nan_value})), {0, 0});
}
TEST(Threshold, RefusesOtherWords) {
  EXPECT_ANY_THROW(run("- threshold: otsi", row_of({1})));
  EXPECT_ANY_THROW(run("- threshold", row_of({1})));
  EXPECT_ANY_THROW(run("- threshold: 120%", row_of({1})));
}

}  // namespace imgpipe::test
