// Every executor on sizes around those of blocks, vectors and tiles, and on images with one very long side.
#include <gtest/gtest.h>

#include "tests/support/parity.h"

namespace imgpipe::test {
namespace {

std::vector<std::int64_t> sides() {
  std::vector<std::int64_t> list;
  for (std::int64_t n = 1; n <= 67; ++n) list.push_back(n);
  for (std::int64_t n : {127, 128, 129, 255, 256, 257}) list.push_back(n);
  return list;
}

void expect_equal_on(const std::string& steps, DType dtype, int channels, const std::vector<Extent>& extents) {
  std::vector<ParityRun> runs;
  for (const Extent& extent : extents) runs.push_back({steps, make_desc(dtype, extent, channels, channels == 4)});
  precompile_all(runs, false);
  for (const auto& [chain, desc] : runs) {
    ASSERT_TRUE(expect_equal(chain, desc));
    if (testing::Test::HasFailure()) return;
  }
}

struct SizeCase {
  std::string name, steps;
};

class EverySize : public testing::TestWithParam<SizeCase> {};

TEST_P(EverySize, GivesTheSameBytesOnEveryExecutor) {
  std::vector<Extent> extents;
  for (std::int64_t n : sides())
    for (const Extent& extent : {Extent{n, 3}, Extent{3, n}}) extents.push_back(extent);
  for (DType dtype : all_dtypes)
    for (int channels : {1, 3, 4}) {
      expect_equal_on(GetParam().steps, dtype, channels, extents);
      if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Chains, EverySize,
                         testing::Values(SizeCase{"pixel", "- linear: {gain: 0.7, offset: 1}\n- invert"},
                                         SizeCase{"gaussian", "- gaussian: 1.2"}, SizeCase{"median", "- median: 1"},
                                         SizeCase{"open", "- open: 2"}, SizeCase{"flip", "- flip: x\n- sobel"},
                                         SizeCase{"normalize", "- normalize"}),
                         [](const auto& info) { return info.param.name; });

class LongSide : public testing::TestWithParam<SizeCase> {};

TEST_P(LongSide, GivesTheSameBytesOnEveryExecutor) {
  expect_equal_on(GetParam().steps, DType::u8, 1, {Extent{4, 1048576}, Extent{1048576, 4}});
}

INSTANTIATE_TEST_SUITE_P(Chains, LongSide,
                         testing::Values(SizeCase{"pixel", "- linear: {gain: 0.7, offset: 1}\n- invert"},
                                         SizeCase{"gaussian", "- gaussian: 1"}, SizeCase{"median", "- median: 1"},
                                         SizeCase{"normalize", "- normalize"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace imgpipe::test
