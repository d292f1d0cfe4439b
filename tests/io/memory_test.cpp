#include "io/image/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace imgpipe {
namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

memory::Owned take(std::size_t bytes) {
  const memory::Block block = memory::take(bytes);
  return {block.data, memory::GiveBack{block.bytes}};
}

bool aligned(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data) % 64 == 0; }

TEST(Memory, IsAlignedAndWritableFromEndToEnd) {
  for (const std::size_t bytes :
       {std::size_t(0), std::size_t(1), std::size_t(63), 3 * MiB, 4 * MiB - 1, 4 * MiB, 7 * MiB + 1}) {
    const memory::Block block = memory::take(bytes);
    EXPECT_TRUE(aligned(block.data)) << bytes;
    EXPECT_GE(block.bytes, bytes);
    if (bytes > 0) std::memset(block.data, 0xab, block.bytes);
    memory::give_back(block);
  }
}

#ifndef __SANITIZE_ADDRESS__
TEST(Memory, LargeBlocksServeTheNextImageOfAboutTheirSize) {
  const std::size_t before = memory::kept();
  memory::Block first = memory::take(48 * MiB);
  std::byte* const data = first.data;
  memory::give_back(first);
  EXPECT_GE(memory::kept(), 48 * MiB);
  const memory::Block again = memory::take(45 * MiB);
  EXPECT_EQ(again.data, data);
  EXPECT_LE(memory::kept(), before);
  memory::give_back(again);
}

TEST(Memory, MuchSmallerImagesDoNotSitInLargeBlocks) {
  memory::give_back(memory::take(96 * MiB));
  const memory::Block small = memory::take(8 * MiB);
  EXPECT_LT(small.bytes, 16 * MiB);
  memory::give_back(small);
}
#endif

TEST(Memory, HoldsNeverMoreThanWasOnceInUse) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<memory::Owned> live;
  for (int i = 0; i < 16; ++i) live.push_back(take(64 * MiB));
  std::size_t used = 16 * 64 * MiB, most = used;
  for (int step = 0; step < 400; ++step) {
    const std::size_t bytes = (4 + random() % 96) * MiB;
    if (!live.empty() && (random() % 2 || used + bytes > most)) {
      const std::size_t which = random() % live.size();
      used -= live[which].get_deleter().bytes;
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      live.push_back(take(bytes));
      used += live.back().get_deleter().bytes;
      most = std::max(most, used);
      ASSERT_LE(used + memory::kept(), most) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace imgpipe
