// The heap that reuses pages, and the stack of workspaces.
#include <cstring>

#include <gtest/gtest.h>

#include "runtime/heap.h"
#include "runtime/worker.h"

namespace tulle::runtime {
namespace {

bool is_aligned(const void* memory) { return reinterpret_cast<uintptr_t>(memory) % 64 == 0; }

TEST(Heap, AlignsAndGivesTheSamePagesAgain) {
  heap_trim();
  for (const int64_t bytes : {0, 1, 64, 65, 80, 1000, 4096, 100000, 9 << 20}) {
    void* memory = heap_allocate(bytes);
    ASSERT_TRUE(memory && is_aligned(memory)) << bytes;
    std::memset(memory, 1, static_cast<size_t>(bytes));
    heap_release(memory, bytes);
    EXPECT_EQ(heap_allocate(bytes), memory) << bytes;
    heap_release(memory, bytes);
  }
  EXPECT_GT(heap_kept_bytes(), 9 << 20);
  heap_trim();
  EXPECT_EQ(heap_kept_bytes(), 0);
}

TEST(Heap, KeepsNoMoreThanItsBound) {
  const int64_t bytes = kHeapKept / 4;
  void* blocks[8];
  for (void*& block : blocks) block = heap_allocate(bytes);
  for (void* block : blocks) heap_release(block, bytes);
  EXPECT_LE(heap_kept_bytes(), kHeapKept);
  heap_trim();
}

TEST(Heap, RefusesWhatCannotBe) {
  EXPECT_EQ(heap_allocate(-1), nullptr);
  EXPECT_EQ(heap_allocate(int64_t{1} << 46), nullptr);
  EXPECT_EQ(heap_allocate(INT64_MAX), nullptr);
}

TEST(Workspaces, AreAStack) {
  loop::WorkerContext worker;
  for (int round = 0; round < 3; ++round) {
    std::vector<char*> held;
    for (const int64_t bytes : {10, 0, 50000, 100000, 3, 5 << 20}) {
      held.push_back(static_cast<char*>(worker.allocate(bytes, true)));
      ASSERT_TRUE(held.back() && is_aligned(held.back()));
      for (int64_t i = 0; i < bytes; ++i) ASSERT_EQ(held.back()[i], 0);
      std::memset(held.back(), static_cast<int>(held.size()), static_cast<size_t>(bytes));
    }
    EXPECT_EQ(held[0][9], 1);
    EXPECT_EQ(held[3][99999], 4);
    for (size_t i = held.size(); i-- > 0;) worker.release(held[i]);
  }
  EXPECT_EQ(worker.allocate(-8, false), nullptr);
  EXPECT_EQ(worker.allocate(INT64_MAX, false), nullptr);
  EXPECT_EQ(worker.allocate(int64_t{1} << 50, false), nullptr);
  void* still = worker.allocate(8, false);
  EXPECT_NE(still, nullptr);
  worker.release(still);
}

}  // namespace
}  // namespace tulle::runtime
