// Derives the shape of a GPU block from the loops bound to it.
#include "loop/gpu.h"

#include <algorithm>

#include "loop/rewrite.h"

namespace tulle::loop {

std::optional<int64_t> constant_extent(const For& loop) {
  const auto* begin = loop.begin.as<IntConst>();
  const auto* end = loop.end.as<IntConst>();
  if (!begin || !end) return std::nullopt;
  return std::max<int64_t>(0, (end->value - begin->value + loop.step - 1) / loop.step);
}

int threads_per_block(const Stmt& body) {
  int64_t threads = 1;
  const auto widen = [&](const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    if (!loop) return;
    const int64_t extent = constant_extent(*loop).value_or(0);
    if (loop->loop == ForKind::Thread) threads = std::max(threads, extent);
    if (loop->loop == ForKind::Warp) threads = std::max(threads, extent * kWarpSize);
    if (loop->loop == ForKind::Lane) threads = std::max<int64_t>(threads, kWarpSize);
  };
  visit(body, widen, [](const Expr&) {});
  return static_cast<int>(std::min<int64_t>(threads, kMostThreads));
}

int launched_threads(const Stmt& body) {
  const int threads = threads_per_block(body);
  return threads == 1 ? 1 : (threads + kWarpSize - 1) / kWarpSize * kWarpSize;
}

int64_t shared_bytes(const Allocate& buffer) {
  if (buffer.buffer->space != Space::Shared) return 0;
  const auto* size = buffer.size.as<IntConst>();
  const int64_t bytes = (size ? size->value : 0) * size_of(buffer.buffer->element);
  return (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

int64_t shared_bytes(const Stmt& body) {
  int64_t bytes = 0;
  visit(
      body,
      [&](const Stmt& stmt) {
        if (const auto* allocate = stmt.as<Allocate>()) bytes += shared_bytes(*allocate);
      },
      [](const Expr&) {});
  return bytes;
}

}  // namespace tulle::loop
