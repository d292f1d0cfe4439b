#include "tests/support/oracle.h"

namespace imgpipe::test {

TEST(Flip, MirrorsEachAxis) {
  for (const auto& [word, fx, fy, fz] :
       {std::tuple("x", true, false, false), std::tuple("y", false, true, false), std::tuple("z", false, false, true),
        std::tuple("[x, y, z]", true, true, true)})
    for (const PixelCase& c : pixel_cases()) {
      const Image image = case_image(c, 8);
      const Image out = run(std::string("- flip: ") + word, image);
      const Extent& e = c.extent;
      for (std::int64_t z = 0; z < e.depth; ++z)
        for (std::int64_t y = 0; y < e.height; ++y)
          for (std::int64_t x = 0; x < e.width; ++x)
            for (int k = 0; k < c.channels; ++k)
              ASSERT_EQ(sample(out, x, y, z, k),
                        sample(image, fx ? e.width - 1 - x : x, fy ? e.height - 1 - y : y, fz ? e.depth - 1 - z : z, k))
                  << word;
    }
}
TEST(Flip, TwiceIsTheImage) {
  const Image image = random_image(make_desc(DType::u16, {13, 7}, 3), 1);
  EXPECT_EQ(difference(image, run("- flip: y\n- flip: y", image)), "");
}
TEST(Flip, RefusesOtherAxes) {
  EXPECT_ANY_THROW(run("- flip: w", row_of({1})));
  EXPECT_ANY_THROW(run("- flip: [x, x]", row_of({1})));
}

}  // namespace imgpipe::test
