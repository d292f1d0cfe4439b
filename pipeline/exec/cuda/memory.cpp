#include "pipeline/exec/cuda/memory.h"

#ifdef IMGPIPE_HAS_CUDA

#include <algorithm>
#include <bit>

namespace imgpipe::cuda {
namespace {

/// Eighths of a power of two: at most 12.5 % is wasted, and sizes that vary a little share blocks.
std::int64_t size_class(std::int64_t bytes) {
  const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 4096));
  const std::uint64_t step = std::bit_floor(size) / 8;
  return static_cast<std::int64_t>((size + step - 1) / step * step);
}

}  // namespace

BlockPool::BlockPool(std::function<std::uint64_t(std::int64_t)> allocate, std::function<void(std::uint64_t)> free,
                     std::optional<std::int64_t> limit, std::optional<std::int64_t> cache_limit)
    : allocate_(std::move(allocate)), free_(std::move(free)), limit_(limit), cache_limit_(cache_limit) {}

BlockPool::~BlockPool() { trim(); }

void BlockPool::trim() {
  for (auto& [size, blocks] : waiting_)
    for (std::uint64_t block : blocks) {
      free_(block);
      sizes_.erase(block);
      held_ -= size;
    }
  waiting_.clear();
  waiting_bytes_ = 0;
}

std::uint64_t BlockPool::take(std::int64_t bytes) {
  const std::int64_t size = size_class(bytes);
  const std::lock_guard lock(mutex_);
  auto known = waiting_.find(size);
  if (known != waiting_.end() && !known->second.empty()) {
    const std::uint64_t block = known->second.back();
    known->second.pop_back();
    waiting_bytes_ -= size;
    return block;
  }
  if (limit_ && held_ + size > *limit_) trim();
  if (limit_ && held_ + size > *limit_) return 0;
  std::uint64_t block = allocate_(size);
  if (block == 0) {
    trim();
    block = allocate_(size);
  }
  if (block == 0) return 0;
  sizes_[block] = size;
  held_ += size;
  return block;
}

void BlockPool::give(std::uint64_t block) {
  const std::lock_guard lock(mutex_);
  const std::int64_t size = sizes_.at(block);
  if (cache_limit_ && waiting_bytes_ + size > *cache_limit_) {
    free_(block);
    sizes_.erase(block);
    held_ -= size;
    return;
  }
  waiting_[size].push_back(block);
  waiting_bytes_ += size;
}

std::int64_t BlockPool::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace imgpipe::cuda

#endif
