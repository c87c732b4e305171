// The size of something that is made after the total it belongs to was begun.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace tulle::runtime {

// From any threads, each function once, in either order.
class LateBytes {
 public:
  using Total = std::shared_ptr<std::atomic<int64_t>>;

  void set(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ = bytes;
    if (total_) *total_ += bytes;
  }

  // The bytes are added to the total, now or when they are set.
  void count_in(Total total) {
    const std::lock_guard lock(mutex_);
    *total += bytes_;
    total_ = std::move(total);
  }

 private:
  std::mutex mutex_;
  int64_t bytes_ = 0;
  Total total_;
};

}  // namespace tulle::runtime
