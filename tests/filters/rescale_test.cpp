#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Rescale, MapsNominalRangeToNominalRange) {
  for (DType to : all_dtypes) {
    const NominalRange out = nominal_range(to);
    const auto define = [out](double v, DType type) {
      const NominalRange in = nominal_range(type);
      return out.black + (v - in.black) / (in.white - in.black) * (out.white - out.black);
    };
    // From float32 a 32-bit result is exact to the last of 24 bits; elsewhere rounding may fall the other way.
    for (const PixelCase& c : pixel_cases()) {
      const Image image = case_image(c, 23);
      const Image result = run("- rescale: " + std::string(name(to)), image);
      const std::vector<double> before = samples(image), after = samples(result);
      for (std::size_t i = 0; i < before.size(); ++i) {
        const double alpha = before[i] * out.white / nominal_range(c.dtype).white;
        const double expected = as_written(is_alpha(c, i) ? alpha : define(before[i], c.dtype), to);
        ASSERT_LE(std::abs(after[i] - expected), is_float(to) ? 2e-7 * std::max(1.0, std::abs(expected)) : 1.0)
            << describe(image.desc()) << " to " << name(to) << " from " << before[i];
      }
    }
  }
}
TEST(Rescale, MapsAlphaToo) {
  expect_values(run("- rescale: uint16", image_of<std::uint8_t>(1, 1, {1, 2, 3, 255}, 4, true)),
                {257, 514, 771, 65535});
}
TEST(Rescale, OfBytesIsExact) {
  expect_values(run("- rescale: uint16", image_of<std::uint8_t>(4, 1, {0, 1, 128, 255})), {0, 257, 32896, 65535});
  expect_values(run("- rescale: uint8", image_of<std::uint16_t>(4, 1, {0, 257, 32896, 65535})), {0, 1, 128, 255});
  expect_values(run("- rescale: float32", image_of<std::uint8_t>(3, 1, {0, 51, 255})), {0, float(51.0f / 255.0f), 1});
}
TEST(Rescale, ThereAndBackIsTheImage) {
  const Image image = random_image(make_desc(DType::u8, {31, 17}), 5);
  for (const char* wide : {"uint16", "int16", "uint32", "float32", "float64"})
    EXPECT_EQ(difference(image, run(std::string("- rescale: ") + wide + "\n- rescale: uint8", image)), "") << wide;
}

}  // namespace imgpipe::test
