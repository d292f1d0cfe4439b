#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Window, MapsARangeToTheNominalRange) {
  const auto define = [](double v, DType type) {
    const NominalRange r = nominal_range(type);
    return r.black + std::clamp((v - 0.25) / (100 - 0.25), 0.0, 1.0) * (r.white - r.black);
  };
  expect_definition("- window: {low: 0.25, high: 100}", define, 1e-5, 1 + 512);
}
TEST(Window, TakesCenterAndWidth) {
  expect_values(run("- window: {center: 40, width: 80}", image_of<std::uint8_t>(5, 1, {0, 20, 40, 80, 200})),
                {0, 64, 128, 255, 255}, 1);
  expect_values(run("- window: {center: 40, width: 80}", image_of<std::int16_t>(3, 1, {-5, 0, 80})),
                {-32768, -32768, 32767});
}
TEST(Window, RefusesHalfARange) {
  for (const char* step :
       {"- window", "- window: {center: 4}", "- window: {low: 4, high: 4}", "- window: {low: 1, width: 3}"})
    EXPECT_ANY_THROW(run(step, row_of({1}))) << step;
}

}  // namespace imgpipe::test
