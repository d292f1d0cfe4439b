#include "tests/filters/morphology_oracle.h"

namespace imgpipe::test {
namespace {

Channel expected(const Channel& in, const std::vector<Tap>& taps, bool neutral) {
  return extreme_of(extreme_of(in, taps, true, neutral), turned(taps), false, neutral);
}

TEST(Closing, IsTwoExtremesInTurn) { expect_morphology("close", expected); }

TEST(Closing, IsNowhereBelowTheImageAndDoesNothingTwice) {
  const Image in = random_image(make_desc(DType::u8, {23, 17}), 4);
  for (const char* parameters :
       {"1", "{size: 2}", "{size: [4, 3]}", "{radius: 3, footprint: ball}", "{size: [4, 2], footprint: cross}"}) {
    const std::string step = std::string("- close: ") + parameters;
    const Image out = run(step, in);
    for (int y = 0; y < 17; ++y)
      for (int x = 0; x < 23; ++x) EXPECT_GE(sample(out, x, y), sample(in, x, y)) << parameters;
    EXPECT_EQ(difference(out, run(step, out)), "") << parameters;
  }
}

TEST(Closing, ConstantStaysConstant) { expect_constant_unchanged("close"); }

// FS13: objects that touch the edge are not eaten.
TEST(Closing, KeepsWhatTouchesTheEdge) {
  const Image in =
      image_of<std::uint8_t>(5, 5, {1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1});
  EXPECT_EQ(difference(in, run("- close", in)), "");
}

}  // namespace
}  // namespace imgpipe::test
