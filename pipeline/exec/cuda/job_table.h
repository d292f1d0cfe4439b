// Waiting for other jobs' memory without waiting for ever.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace imgpipe::cuda {

/// Which jobs live and which wait for memory, so that a wait ends when nobody is left who could give some back.
class JobTable {
 public:
  using Thread = std::thread::id;
  void begin(Thread thread) {
    const std::lock_guard lock(mutex_);
    ++live_[thread];
  }
  void end(Thread thread) {
    const std::lock_guard lock(mutex_);
    if (--live_[thread] == 0) live_.erase(thread);
    ++ended_;
    changed_.notify_all();
  }
  std::uint64_t ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  /// Waits until more than `seen` jobs have ended. False when no other thread's job can end, or time is up.
  bool wait_for_end(std::uint64_t seen, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    waiting_.insert(std::this_thread::get_id());
    changed_.wait_until(lock, deadline, [&] { return ended_ != seen || !others_run(); });
    waiting_.erase(std::this_thread::get_id());
    return ended_ != seen && std::chrono::steady_clock::now() < deadline;
  }

 private:
  bool others_run() const {
    return std::any_of(live_.begin(), live_.end(), [&](const auto& entry) { return !waiting_.count(entry.first); });
  }
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Thread, int> live_;
  std::set<Thread> waiting_;
  std::uint64_t ended_ = 0;
};

}  // namespace imgpipe::cuda
