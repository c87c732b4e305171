// A size that becomes known after the total that includes it was started.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace tulle::runtime {

// Each function may be called once, from any thread, in either order.
class LateBytes {
 public:
  using Total = std::shared_ptr<std::atomic<int64_t>>;

  void set(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ = bytes;
    if (total_) *total_ += bytes;
  }

  // Adds the bytes to the total, now or when they are set.
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
