#include "tests/support/oracle.h"

namespace imgpipe::test {

std::vector<std::vector<double>> reports_of(const Image& image, const std::string& step = "- stats") {
  const auto simple = make_simple_executor();
  return run_on(*simple, step, image).reports;
}

TEST(Stats, ReportsCountRangeMeanDeviationAndPercentiles) {
  const auto reports = reports_of(row_of({4, 1, nan_value, 3, 2}));
  ASSERT_EQ(reports.size(), 2u);
  const std::vector<double> expected = {4, 1, 1, 4, 2.5, std::sqrt(1.25)};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(reports[0][i], expected[i], 1e-12) << i;
  EXPECT_NEAR(reports[1][0], 1.03, 1e-12);
  EXPECT_NEAR(reports[1][1], 2.5, 1e-12);
  EXPECT_NEAR(reports[1][2], 3.97, 1e-12);
}
TEST(Stats, LeavesTheImageAndAlphaAlone) {
  const Image image = image_of<std::uint8_t>(1, 2, {1, 2, 3, 200, 5, 6, 7, 100}, 4, true);
  EXPECT_EQ(difference(image, run("- stats", image)), "");
  EXPECT_EQ(reports_of(image)[0][0], 6);
  EXPECT_EQ(reports_of(image)[0][3], 7);
}
TEST(Stats, OfManySamplesIsAccurate) {
  const Image image = random_image(make_desc(DType::f32, {400, 300}), 5);
  long double sum = 0;
  for (double v : samples(image)) sum += v;
  EXPECT_NEAR(reports_of(image)[0][4], static_cast<double>(sum / 120000), 1e-13);
}
// TH3
TEST(Stats, OfAConstantImageHasNoDeviation) {
  for (double v : {0.0308219200219, 0.03082192, 1e300, -7.1}) {
    const auto reports = reports_of(image_of<double>(4, 4, std::vector<double>(16, v)));
    EXPECT_EQ(reports[0], (std::vector<double>{16, 0, v, v, v, 0}));
    EXPECT_EQ(reports[1], (std::vector<double>{v, v, v}));
  }
}
TEST(Stats, OfNothingButNanIsNan) {
  const auto reports = reports_of(row_of({nan_value, nan_value}));
  EXPECT_EQ(reports[0][0], 0);
  EXPECT_EQ(reports[0][1], 2);
  EXPECT_TRUE(std::isnan(reports[0][4]) && std::isnan(reports[1][0]));
}

}  // namespace imgpipe::test
