#include "io/image/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace imgpipe::memory {
namespace {

constexpr std::size_t cache_line = 64, huge_page = std::size_t(2) << 20;

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t large = SIZE_MAX;  // the sanitizer watches what malloc gives out
#else
constexpr std::size_t large = 2 * huge_page;
#endif

/// Not std::aligned_alloc: what that frees in glibc serves no later request of the same size and alignment, so a long
/// batch would grow without end. The block's own address stands before the aligned one.
Block small_block(std::size_t bytes) {
  void* const block = std::malloc(bytes + cache_line + sizeof(void*));
  if (!block) throw std::bad_alloc();
  const auto least = reinterpret_cast<std::uintptr_t>(block) + sizeof(void*);
  auto* const aligned = reinterpret_cast<std::byte*>((least + cache_line - 1) / cache_line * cache_line);
  reinterpret_cast<void**>(aligned)[-1] = block;
  return {aligned, bytes};
}

void free_small(Block block) { std::free(reinterpret_cast<void**>(block.data)[-1]); }

/// Whole huge pages, mapped where huge pages can lie.
Block map_pages(std::size_t bytes) {
  const std::size_t spare = bytes + huge_page;
  void* const mapped = mmap(nullptr, spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, huge_page - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, bytes, MADV_HUGEPAGE);
#endif
  return {begin + before, bytes};
}

class Large {
 public:
  Block take(std::size_t bytes) {
    const std::size_t pages = (bytes + huge_page - 1) / huge_page * huge_page;
    std::vector<Block> surplus;
    Block block;
    {
      const std::lock_guard lock(mutex_);
      block = find(pages);
      used_ += block.data ? block.bytes : pages;
      most_ = std::max(most_, used_);
      surplus = shrink();
    }
    for (Block b : surplus) munmap(b.data, b.bytes);
    if (block.data) return block;
    try {
      return map_pages(pages);
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(mutex_);
      used_ -= pages;
      throw;
    }
  }

  void give_back(Block block) noexcept {
    const std::lock_guard lock(mutex_);
    used_ -= block.bytes;
    try {
      free_.push_back(block);
      kept_ += block.bytes;
    } catch (const std::bad_alloc&) {
      munmap(block.data, block.bytes);
    }
  }

  std::size_t kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

 private:
  /// The smallest that fits and is not much too large.
  Block find(std::size_t pages) {
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->bytes >= pages && it->bytes <= pages + pages / 4 && (best == free_.end() || it->bytes < best->bytes))
        best = it;
    if (best == free_.end()) return {};
    const Block block = *best;
    free_.erase(best);
    kept_ -= block.bytes;
    return block;
  }

  /// What has to go, oldest first, for both together to stay within the most that was in use.
  std::vector<Block> shrink() {
    std::vector<Block> surplus;
    while (!free_.empty() && used_ + kept_ > most_) {
      surplus.push_back(free_.front());
      kept_ -= free_.front().bytes;
      free_.erase(free_.begin());
    }
    return surplus;
  }

  std::mutex mutex_;
  std::vector<Block> free_;
  std::size_t used_ = 0, kept_ = 0, most_ = 0;
};

/// Never destroyed: images may outlive what static destructors end.
Large& large_blocks() {
  static auto* const blocks = new Large;
  return *blocks;
}

}  // namespace

Block take(std::size_t bytes) { return bytes < large ? small_block(bytes) : large_blocks().take(bytes); }

void give_back(Block block) noexcept {
  if (block.bytes < large)
    free_small(block);
  else
    large_blocks().give_back(block);
}

std::size_t kept() { return large_blocks().kept(); }

}  // namespace imgpipe::memory
