// Replaces the allocation functions.
#include "count_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace tulle::passes {

namespace {

std::atomic<int64_t> allocations = 0;

void* allocate(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

int64_t count_allocations() { return allocations; }

}  // namespace tulle::passes

void* operator new(std::size_t size) { return tulle::passes::allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
