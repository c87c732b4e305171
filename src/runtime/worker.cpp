// The workspace stack of a worker.
#include "runtime/worker.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/heap.h"

namespace tulle::loop {

namespace {

constexpr int64_t kAlign = 64;
constexpr int64_t kSmallestChunk = int64_t{64} << 10;
constexpr int64_t kKept = int64_t{64} << 20;  // a larger stack returns to the heap when it is empty

}  // namespace

WorkerContext::~WorkerContext() {
  while (!chunks_.empty()) drop_last_chunk();
}

bool WorkerContext::add_chunk(int64_t bytes) noexcept {
  try {
    chunks_.reserve(chunks_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  auto* begin = static_cast<char*>(runtime::heap_allocate(bytes));
  if (!begin) return false;
  chunks_.push_back({begin, bytes, 0});
  return true;
}

void WorkerContext::drop_last_chunk() noexcept {
  runtime::heap_release(chunks_.back().begin, chunks_.back().size);
  chunks_.pop_back();
}

void* WorkerContext::allocate(int64_t bytes, bool zeroed) noexcept {
  if (bytes < 0 || bytes > INT64_MAX / 4) return nullptr;
  const int64_t rounded = std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  // If the stack was too small last time and is empty, replaces it by one sufficiently large chunk.
  const int64_t wanted = std::max({rounded, kSmallestChunk, most_in_use_});
  if (in_use_ == 0 && !chunks_.empty() && chunks_[0].size < wanted) drop_last_chunk();
  if (chunks_.empty() || chunks_.back().size - chunks_.back().used < rounded) {
    if (!add_chunk(wanted) && !add_chunk(rounded)) return nullptr;
  }
  Chunk& chunk = chunks_.back();
  void* memory = chunk.begin + chunk.used;
  chunk.used += rounded;
  in_use_ += rounded;
  most_in_use_ = std::max(most_in_use_, in_use_);
  if (zeroed) std::memset(memory, 0, static_cast<size_t>(bytes));
  return memory;
}

void WorkerContext::release(void* memory) noexcept {
  Chunk& chunk = chunks_.back();
  const int64_t used = static_cast<char*>(memory) - chunk.begin;
  in_use_ -= chunk.used - used;
  chunk.used = used;
  const bool is_spare = chunks_.size() > 1 || chunk.size > kKept;
  if (used == 0 && is_spare) drop_last_chunk();
  if (in_use_ == 0 && most_in_use_ > kKept) most_in_use_ = 0;
}

}  // namespace tulle::loop

namespace tulle::runtime {

loop::WorkerContext& this_worker() {
  thread_local loop::WorkerContext worker;
  return worker;
}

}  // namespace tulle::runtime
