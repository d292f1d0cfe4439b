#include "tests/filters/morphology_oracle.h"

namespace imgpipe::test {
namespace {

Channel expected(const Channel& in, const std::vector<Tap>& taps, bool neutral) {
  return extreme_of(extreme_of(in, taps, false, neutral), turned(taps), true, neutral);
}

TEST(Opening, IsTwoExtremesInTurn) { expect_morphology("open", expected); }

TEST(Opening, IsNowhereAboveTheImageAndDoesNothingTwice) {
  const Image in = random_image(make_desc(DType::u8, {23, 17}), 4);
  for (const char* parameters :
       {"1", "{size: 2}", "{size: [4, 3]}", "{radius: 3, footprint: ball}", "{size: [4, 2], footprint: cross}"}) {
    const std::string step = std::string("- open: ") + parameters;
    const Image out = run(step, in);
    for (int y = 0; y < 17; ++y)
      for (int x = 0; x < 23; ++x) EXPECT_LE(sample(out, x, y), sample(in, x, y)) << parameters;
    EXPECT_EQ(difference(out, run(step, out)), "") << parameters;
  }
}

TEST(Opening, ConstantStaysConstant) { expect_constant_unchanged("open"); }

TEST(Opening, KeepsWhatTouchesTheEdge) {
  const Image in = image_of<std::uint8_t>(5, 3, {9, 9, 0, 9, 9, 9, 9, 0, 9, 9, 9, 9, 0, 9, 9});
  const Image out = run("- open", in);
  EXPECT_EQ(samples(out), samples(in));
}

}  // namespace
}  // namespace imgpipe::test
