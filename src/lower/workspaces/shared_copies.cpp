// Lays out copies and distributes their elements over threads.
#include "lower/workspaces/shared_copies.h"

#include <algorithm>

#include "lower/levels/dense.h"
#include "nest/bound_loops.h"
#include "support/gpu_limits.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

SharedCopy SharedCopies::allocate(const nest::Where& where, const ThreadPlace& thread) {
  const std::string& name = where.workspaces.front();
  const nest::Tensor& tensor = kernel_.nest.tensor(name);
  TensorCode& target = kernel_.code(name);
  SharedCopy copy{.assign = nest::assigns(where.producer).front(), .in_warp = thread.in_warp};
  target.levels.clear();
  for (const std::string& index : copy.assign->indices) {
    const int64_t extent = *kernel_.nest.known_extent(index);
    target.levels.push_back(std::make_unique<DenseLevel>(IntConst::make(extent)));
    copy.size *= extent;
  }
  const int64_t copies = thread.in_warp ? nest::warps_of_block(kernel_.nest) : 1;
  copy.stride = std::max<int64_t>(1, copy.size) * copies;
  copy.threads = thread.in_warp ? kWarpSize : nest::threads_of_block(kernel_.nest);
  copy.rounds = (copy.size + copy.threads - 1) / copy.threads;
  if (!allocations_.contains(name)) {
    target.values =
        loop::make_buffer(kernel_.names.fresh(name), tensor.type.type, loop::Space::Shared);
    allocations_[name] =
        loop::Allocate::make(target.values, IntConst::make(copy.stride * tensor.depth), false);
  }
  target.base = thread.in_warp ? thread.warp * copy.size : Expr();
  return copy;
}

loop::Stmt SharedCopies::barrier_of(const SharedCopy& copy) {
  return loop::Barrier::make(copy.in_warp ? loop::BarrierScope::Warp : loop::BarrierScope::Block);
}

// Thread t of n copies the elements t, t + n, t + 2n, ...
loop::Stmt SharedCopies::for_elements(
    const SharedCopy& copy,
    const std::function<void(const Expr& element, const Expr& round, Emitter& out)>& one) {
  constexpr int64_t most_unrolled = 16;
  const std::string thread = kernel_.names.fresh("copier"), round = kernel_.names.fresh("round");
  Emitter body(kernel_.names), inside(kernel_.names);
  const Expr element =
      body.let("element", loop::Var::make(round) * copy.threads + loop::Var::make(thread));
  one(element, loop::Var::make(round), inside);
  loop::Stmt all = inside.take();
  if (copy.size % copy.threads != 0)
    all = loop::If::make(element < IntConst::make(copy.size), std::move(all));
  body.add(std::move(all));
  return loop::For::make(
      thread, IntConst::make(0), IntConst::make(copy.threads),
      loop::For::make(
          round, IntConst::make(0), IntConst::make(copy.rounds), body.take(),
          copy.rounds <= most_unrolled ? loop::ForKind::Unrolled : loop::ForKind::Serial),
      copy.in_warp ? loop::ForKind::Lane : loop::ForKind::Thread);
}

}  // namespace tulle::lower
