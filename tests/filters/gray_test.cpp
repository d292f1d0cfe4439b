#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Gray, WeighsTheColours) {
  for (const auto& [word, r, g, b] :
       {std::tuple("rec601", 0.299, 0.587, 0.114), std::tuple("rec709", 0.2126, 0.7152, 0.0722)})
    for (DType dtype : all_dtypes) {
      const Image image = random_image(make_desc(dtype, {7, 5}, 3), 9);
      const Image out = run(std::string("- gray: ") + word, image);
      ASSERT_EQ(out.desc().channels, 1);
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 7; ++x) {
          const double expected = as_written(
              r * sample(image, x, y, 0, 0) + g * sample(image, x, y, 0, 1) + b * sample(image, x, y, 0, 2), dtype);
          ASSERT_NEAR(sample(out, x, y), expected, is_float(dtype) ? 3e-7 : 1) << word << " " << name(dtype);
        }
    }
}
TEST(Gray, KeepsWhiteBlackAndAlpha) {
  const Image out = run("- gray", image_of<std::uint8_t>(2, 1, {255, 255, 255, 7, 0, 0, 0, 9}, 4, true));
  EXPECT_EQ(out.desc().channels, 2);
  EXPECT_TRUE(out.desc().alpha);
  expect_values(out, {255, 7, 0, 9});
}
TEST(Gray, LetsGrayPass) { expect_values(run("- gray", image_of<std::uint8_t>(2, 1, {3, 4})), {3, 4}); }
TEST(Gray, RefusesOtherChannelCounts) {
  EXPECT_ANY_THROW(run("- gray", image_of<std::uint8_t>(1, 1, {1, 2, 3, 4, 5}, 5)));
}

}  // namespace imgpipe::test
