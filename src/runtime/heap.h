// Memory for temporaries, workspaces and large results: aligned, and kept for the next call, since
// fresh pages are slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tulle::runtime {

// At least `bytes` aligned to 64, never null for zero bytes; null if there is no memory. From any
// thread.
void* heap_allocate(int64_t bytes) noexcept;
// Takes back what heap_allocate gave; `bytes` as asked for then.
void heap_release(void* memory, int64_t bytes) noexcept;
// What is kept for later, at most kHeapKept. Tests look at it.
int64_t heap_kept_bytes() noexcept;
// Gives everything that is kept back to the system.
void heap_trim() noexcept;

inline constexpr int64_t kHeapKept = int64_t{512} << 20;

// An array of `count` T on the heap; raises a UserError if there is no memory. Elements are not
// initialised.
template <typename T>
class HeapArray {
 public:
  explicit HeapArray(int64_t count);
  HeapArray(HeapArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  HeapArray(const HeapArray&) = delete;
  HeapArray& operator=(const HeapArray&) = delete;
  HeapArray& operator=(HeapArray&&) = delete;
  ~HeapArray() {
    if (data_) heap_release(data_, count_ * static_cast<int64_t>(sizeof(T)));
  }

  T* data() const { return data_; }
  T& operator[](int64_t index) const { return data_[index]; }

 private:
  T* data_;
  int64_t count_;
};

// A UserError that says how much was asked for and for what.
[[noreturn]] void raise_out_of_memory(int64_t bytes, const char* purpose);

template <typename T>
HeapArray<T>::HeapArray(int64_t count)
    : data_(static_cast<T*>(heap_allocate(count * static_cast<int64_t>(sizeof(T))))),
      count_(count) {
  if (!data_) raise_out_of_memory(count * static_cast<int64_t>(sizeof(T)), "sorting");
}

}  // namespace tulle::runtime
