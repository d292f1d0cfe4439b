// Memory that is kept for reuse: device blocks and pinned host slots by size class.
#pragma once

#ifdef IMGPIPE_HAS_CUDA

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace imgpipe::cuda {

/// Blocks handed out and taken back; freed blocks wait for the next of their size.
class BlockPool {
 public:
  /// `allocate` returns 0 when memory has run out.
  BlockPool(std::function<std::uint64_t(std::int64_t)> allocate, std::function<void(std::uint64_t)> free,
            std::optional<std::int64_t> limit, std::optional<std::int64_t> cache_limit);
  ~BlockPool();
  /// 0 when memory has run out, also after all waiting blocks were given back.
  std::uint64_t take(std::int64_t bytes);
  void give(std::uint64_t block);
  std::int64_t held() const;  ///< bytes, in use and waiting

 private:
  void trim();
  std::function<std::uint64_t(std::int64_t)> allocate_;
  std::function<void(std::uint64_t)> free_;
  std::optional<std::int64_t> limit_, cache_limit_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::vector<std::uint64_t>> waiting_;
  std::map<std::uint64_t, std::int64_t> sizes_;
  std::int64_t held_ = 0, waiting_bytes_ = 0;
};

}  // namespace imgpipe::cuda

#endif
