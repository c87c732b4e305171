// The shape of a GPU block, from the loops bound to it.
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
    if (loop->loop == LoopKind::Thread) threads = std::max(threads, extent);
    if (loop->loop == LoopKind::Warp) threads = std::max(threads, extent * kWarpSize);
    if (loop->loop == LoopKind::Lane) threads = std::max<int64_t>(threads, kWarpSize);
  };
  visit(body, widen, [](const Expr&) {});
  return static_cast<int>(std::min<int64_t>(threads, kMostThreads));
}

}  // namespace tulle::loop
