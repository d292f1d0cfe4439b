#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Crop, CutsOutABox) {
  for (const PixelCase& c : pixel_cases()) {
    if (c.extent.width < 3 || c.extent.height < 3) continue;
    const Image image = case_image(c, 2);
    const Image out = run("- crop: {x: 1, y: 2, width: 2, height: 1}", image);
    ASSERT_EQ(out.desc().extent, (Extent{2, 1, c.extent.depth}));
    for (std::int64_t z = 0; z < c.extent.depth; ++z)
      for (int x = 0; x < 2; ++x)
        for (int k = 0; k < c.channels; ++k) ASSERT_EQ(sample(out, x, 0, z, k), sample(image, x + 1, 2, z, k));
  }
}
TEST(Crop, TakesABoxOfSlicesAndMovesTheOrigin) {
  Image image = image_of<std::uint8_t>(2, 1, {1, 2, 3, 4, 5, 6}, 1, false, 3);
  image.desc().geometry = {{0.5, 0.5, 2}, {10, 0, 0}, "um"};
  const Image out = run("- crop: [1, 0, 1, 1, 1, 2]", image);
  expect_values(out, {4, 6});
  EXPECT_EQ(out.desc().geometry.origin, (std::array<double, 3>{10.5, 0, 2}));
  EXPECT_EQ(out.desc().geometry.spacing, (std::array<double, 3>{0.5, 0.5, 2}));
}
TEST(Crop, GoesUpToTheEdgeWhatIsLeftOut) {
  const Image volume = image_of<std::uint8_t>(3, 2, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1, false, 2);
  expect_values(run("- crop: {x: 1}", volume), {1, 2, 4, 5, 7, 8, 10, 11});
  expect_values(run("- crop: {y: 1}", volume), {3, 4, 5, 9, 10, 11});
  expect_values(run("- crop: {z: 1}", volume), {6, 7, 8, 9, 10, 11});
  expect_values(run("- crop: [2, 0, 1, 2]", volume), {2, 5, 8, 11});
  EXPECT_EQ(difference(volume, run("- crop: {x: 0}", volume)), "");
}
TEST(Crop, RefusesABoxOutsideTheImage) {
  const Image image = image_of<std::uint8_t>(3, 2, {1, 2, 3, 4, 5, 6});
  for (const char* step : {"- crop: {x: 3}", "- crop: {width: 4}", "- crop: {x: 2, width: 2}", "- crop: {z: 1}",
                           "- crop: [0, 0, 3]", "- crop: {width: 0}"})
    EXPECT_ANY_THROW(run(step, image)) << step;
}
TEST(Crop, AfterABlurUsesPixelsOutsideTheBox) {
  expect_values(run("- correlate1d: [1, 1, 1]\n- crop: {x: 1, width: 1}", row_of({1, 2, 4})), {7});
}

}  // namespace imgpipe::test
