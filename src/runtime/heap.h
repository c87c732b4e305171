// Aligned memory for temporaries, workspaces and large results. Released blocks are reused, because
// fresh pages are slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tulle::runtime {

// At least `bytes` bytes aligned to 64; null if allocation fails, but never null for zero bytes.
// Thread-safe.
void* heap_allocate(int64_t bytes) noexcept;
// Releases memory of heap_allocate. `bytes` must be the requested size.
void heap_release(void* memory, int64_t bytes) noexcept;
// The bytes held for reuse, at most kHeapKept. For tests.
int64_t heap_kept_bytes() noexcept;
// Returns all memory held for reuse to the system.
void heap_trim() noexcept;

inline constexpr int64_t kHeapKept = int64_t{512} << 20;

// An uninitialised array of `count` T on the heap. Raises a UserError if allocation fails.
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

// Raises a UserError that names the size and the purpose.
[[noreturn]] void raise_out_of_memory(int64_t bytes, const char* purpose);

template <typename T>
HeapArray<T>::HeapArray(int64_t count)
    : data_(static_cast<T*>(heap_allocate(count * static_cast<int64_t>(sizeof(T))))),
      count_(count) {
  if (!data_) raise_out_of_memory(count * static_cast<int64_t>(sizeof(T)), "sorting");
}

}  // namespace tulle::runtime
