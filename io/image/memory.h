// Memory of images. Large blocks are kept for the next image of about their size: the system clears fresh pages, and
// that takes longer than most passes over them. What is kept and what is in use are never more together than what was
// once in use.
#pragma once

#include <cstddef>
#include <memory>

namespace imgpipe::memory {

struct Block {
  std::byte* data = nullptr;  ///< 64-byte aligned, uninitialised
  std::size_t bytes = 0;      ///< at least as many as were asked for
};

/// Throws std::bad_alloc.
Block take(std::size_t bytes);
void give_back(Block block) noexcept;
/// Bytes of large blocks that are kept now.
std::size_t kept();

struct GiveBack {
  std::size_t bytes = 0;
  void operator()(std::byte* data) const noexcept { give_back({data, bytes}); }
};
using Owned = std::unique_ptr<std::byte[], GiveBack>;

}  // namespace imgpipe::memory
