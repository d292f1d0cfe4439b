#include "pipeline/exec/cuda/executor.h"
#include "tests/support/oracle.h"
#include "tests/support/twin_device.h"

namespace imgpipe::test {

/// The value that divides the numbers best: by definition, from the two classes' own means.
double best_value(const std::vector<double>& values) {
  double best = -1, split = *std::max_element(values.begin(), values.end());
  std::vector<double> candidates = values;
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (std::size_t k = 0; k + 1 < candidates.size(); ++k) {
    double below = 0, above = 0, sum_below = 0, sum_above = 0;
    for (double v : values) (v <= candidates[k] ? (++below, sum_below += v) : (++above, sum_above += v));
    const double gap = sum_below / below - sum_above / above, variance = below * above * gap * gap;
    if (variance > best * (1 + 1e-12)) best = variance, split = candidates[k];
  }
  return split;
}

TEST(Otsu, MaximisesTheBetweenClassVariance) {
  for (DType dtype : {DType::u8, DType::i8, DType::u16, DType::i16})
    for (unsigned seed : {1u, 2u, 3u}) {
      const Image image = random_image(make_desc(dtype, {13, 9}), seed);
      const double limit = best_value(samples(image));
      const Image mask = run("- otsu", image);
      ASSERT_EQ(mask.desc().dtype, DType::u8);
      const std::vector<double> before = samples(image), after = samples(mask);
      for (std::size_t i = 0; i < before.size(); ++i)
        ASSERT_EQ(after[i], before[i] > limit ? 255 : 0) << name(dtype) << " seed " << seed << " at limit " << limit;
    }
}
TEST(Otsu, SeparatesTwoClusters) {
  expect_values(run("- otsu", row_of({0.1, 0.12, 0.9, 0.88, 0.11, 0.95})), {0, 0, 255, 255, 0, 255});
  expect_values(run("- otsu", image_of<std::int32_t>(4, 1, {-100000, -99000, 5, 7})), {0, 0, 255, 255});
}
TEST(Otsu, OfAConstantImageIsEmpty) {
  expect_values(run("- otsu", image_of<std::uint8_t>(2, 2, {77, 77, 77, 77})), {0, 0, 0, 0});
  expect_values(run("- otsu", image_of<std::uint16_t>(1, 1, {40000})), {0});
  expect_values(run("- otsu", row_of({0.25, 0.25})), {0, 0});
}
// Foreground is what lies in the upper class's bins, on their lower end too and whatever their width.
TEST(Otsu, MarksTheBinsOfTheUpperClass) {
  expect_values(run("- otsu: {bins: 4}", row_of({0, 0.2, 1.5, 3, 4})), {0, 0, 0, 255, 255});
  expect_values(run("- otsu: {bins: 2}", row_of({0, 0, 0, 2, 2, 4})), {0, 0, 0, 255, 255, 255});
  expect_values(run("- otsu: {bins: 2}", row_of({-4, -4, -4, -2, -2, 0})), {0, 0, 0, 255, 255, 255});
  for (unsigned seed : {1u, 2u, 3u, 4u})
    for (int bins : {2, 3, 16, 100}) {
      const Image image = random_image(make_desc(DType::f32, {13, 9}), seed);
      const std::vector<double> values = samples(image);
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      std::vector<double> places;
      for (double v : values) places.push_back(std::min(std::floor((v - *low) / ((*high - *low) / bins)), bins - 1.0));
      const double limit = best_value(places);
      const std::vector<double> mask = samples(run("- otsu: {bins: " + std::to_string(bins) + "}", image));
      for (std::size_t i = 0; i < mask.size(); ++i)
        ASSERT_EQ(mask[i], places[i] > limit ? 255 : 0) << bins << " " << seed;
    }
}
TEST(Otsu, MarksTheSameOnEveryExecutor) {
  const std::shared_ptr<Executor> cpu = make_cpu_executor(), cuda = make_cuda_executor(make_twin_device(), cpu);
  for (const auto& executor : {cpu, cuda}) {
    SCOPED_TRACE(executor->name());
    const RunResult edge = run_on(*executor, "- otsu: {bins: 2}", row_of({0, 0, 0, 2, 2, 4}));
    EXPECT_TRUE(edge.notes.empty());
    expect_values(edge.images.at(0), {0, 0, 0, 255, 255, 255});
    const RunResult unit = run_on(*executor, "- otsu: {bins: 4}", row_of({0, 0.2, 1.5, 3, 4}));
    expect_values(unit.images.at(0), {0, 0, 0, 255, 255});
    const RunResult constant = run_on(*executor, "- otsu: {bins: 4}", row_of({0.25, 0.25}));
    expect_values(constant.images.at(0), {0, 0});
  }
}
TEST(Otsu, OfEqualSplitsIsTheFirst) {
  expect_values(run("- otsu", image_of<std::uint8_t>(3, 1, {0, 1, 2})), {0, 255, 255});
}
TEST(Otsu, LeavesAlphaOutAndAlone) {
  const Image image = image_of<std::uint8_t>(2, 1, {0, 0, 10, 250, 10, 10, 0, 200}, 4, true);
  expect_values(run("- otsu", image), {0, 0, 255, 250, 255, 255, 0, 200});
}
TEST(Otsu, LeavesManyNanOut) {
  std::vector<double> row = {0, 0, 3, 3, 3, 3, 5}, mask = {0, 0, 255, 255, 255, 255, 255};
  row.resize(207, nan_value);
  mask.resize(207, 0);
  expect_values(run("- otsu", row_of(row)), mask);
}
TEST(Otsu, LeavesNanOut) {
  expect_values(run("- otsu", row_of({0, 0, 0, nan_value, 1, 1, 1, nan_value})), {0, 0, 0, 0, 255, 255, 255, 0});
  expect_values(run("- otsu", row_of({nan_value, nan_value})), {0, 0});
}

}  // namespace imgpipe::test
