// Free lists by size class on top of the system's allocator.
#include "runtime/heap.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <vector>

#include "support/check.h"

namespace tulle::runtime {

namespace {

constexpr int64_t kSmallest = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int kClasses = 4 * 48;

// Size classes are powers of two with three steps in between: at most a fifth is wasted.
struct SizeClass {
  int index;
  int64_t bytes;
};

SizeClass class_of(int64_t bytes) {
  if (bytes <= kSmallest) return {0, kSmallest};
  const auto last = static_cast<uint64_t>(bytes - 1);
  const int power = std::bit_width(last) - 1;  // 2^power <= bytes - 1
  const uint64_t step = uint64_t{1} << (power - 2);
  const uint64_t steps = (last - (uint64_t{1} << power)) / step + 1;  // 1 to 4
  return {4 * (power - 6) + static_cast<int>(steps),
          static_cast<int64_t>((uint64_t{1} << power) + steps * step)};
}

struct Heap {
  std::mutex mutex;
  std::array<std::vector<void*>, kClasses + 1> free;
  int64_t kept = 0;
};

// Never destroyed, because threads that outlive main still release memory. Forks hold its mutex.
Heap& heap() {
  static Heap* const instance = [] {
    pthread_atfork([] { heap().mutex.lock(); }, [] { heap().mutex.unlock(); },
                   [] { heap().mutex.unlock(); });
    return new Heap;
  }();
  return *instance;
}

void* allocate_from_system(int64_t bytes) {
  const bool is_large = bytes >= 2 * kHugePage;
  const auto align = static_cast<size_t>(is_large ? kHugePage : kSmallest);
  const size_t rounded = (static_cast<size_t>(bytes) + align - 1) / align * align;
  void* memory = std::aligned_alloc(align, rounded);
  if (memory && is_large) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void trim(Heap& heap) {
  for (auto& list : heap.free) {
    for (void* memory : list) std::free(memory);
    list.clear();
  }
  heap.kept = 0;
}

}  // namespace

void* heap_allocate(int64_t bytes) noexcept {
  if (bytes < 0 || bytes > int64_t{1} << 47) return nullptr;
  const SizeClass size = class_of(bytes);
  Heap& shared = heap();
  {
    const std::lock_guard lock(shared.mutex);
    auto& list = shared.free[static_cast<size_t>(size.index)];
    if (!list.empty()) {
      void* memory = list.back();
      list.pop_back();
      shared.kept -= size.bytes;
      return memory;
    }
  }
  if (void* memory = allocate_from_system(size.bytes)) return memory;
  heap_trim();
  return allocate_from_system(size.bytes);
}

void heap_release(void* memory, int64_t bytes) noexcept {
  if (!memory) return;
  const SizeClass size = class_of(bytes);
  if (size.bytes > kHeapKept) return std::free(memory);
  Heap& shared = heap();
  const std::lock_guard lock(shared.mutex);
  // The free lists hold other sizes than those in use now.
  if (shared.kept + size.bytes > kHeapKept) trim(shared);
  try {
    shared.free[static_cast<size_t>(size.index)].push_back(memory);
    shared.kept += size.bytes;
  } catch (const std::bad_alloc&) {
    std::free(memory);
  }
}

int64_t heap_kept_bytes() noexcept {
  Heap& shared = heap();
  const std::lock_guard lock(shared.mutex);
  return shared.kept;
}

void heap_trim() noexcept {
  Heap& shared = heap();
  const std::lock_guard lock(shared.mutex);
  trim(shared);
}

void raise_out_of_memory(int64_t bytes, const char* purpose) {
  user_error("out of memory: ", bytes, " bytes for ", purpose,
             " could not be allocated; use a smaller problem or a machine with more memory");
}

}  // namespace tulle::runtime
