#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Invert, IsBlackPlusWhiteMinusValue) {
  const auto define = [](double v, DType type) {
    const NominalRange r = nominal_range(type);
    return r.black + r.white - v;
  };
  expect_definition("- invert", define, 1e-7, 0);
}
TEST(Invert, TwiceIsTheImage) {
  for (const PixelCase& c : pixel_cases()) {
    if (is_float(c.dtype)) continue;
    const Image image = case_image(c, 3);
    EXPECT_EQ(difference(image, run("- invert\n- invert", image)), "");
  }
}

}  // namespace imgpipe::test
