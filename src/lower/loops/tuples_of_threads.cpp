// Merges tuples in shared memory.
#include "lower/loops/tuples_of_threads.h"

#include <map>
#include <string>
#include <utility>

#include "lower/levels/dense.h"
#include "lower/levels/spread.h"
#include "lower/loops/thread_parts.h"
#include "nest/bound_loops.h"
#include "support/gpu_limits.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using loop::Var;

namespace {

// A loop in which warps or threads merge their tuples.
class Merge {
 public:
  explicit Merge(const LoopSite& site) : site_(site) {}

  void lower(Emitter& out) {
    const nest::Stmt& body = site_.loop.body;
    const loop::Stmt barrier = loop::Barrier::make(loop::BarrierScope::Block);
    Emitter put = out.nested();
    std::map<std::string, ValuePlace> own;
    for (const nest::Assign* assign : nest::assigns(body)) {
      const auto& part = *assign->value.as<expr::Access>();
      own[part.tensor] = share(part, put, out);
    }
    out.add(barrier);  // until all have read the previous contents
    out.add(on_all(number_, extent_, put.take()));
    if (!mutant("tuples-without-barrier")) out.add(barrier);

    Emitter merge = out.nested();
    const auto lower_body = [&](const KernelScope& settled, Emitter& inside) {
      site_.parts.statements.lower(body, settled, inside);
    };
    site_.parts.entering.settle(body, scope_of_merge(), merge, lower_body);
    // The branch for unshared rows may merge the same tuples again.
    for (auto& [part, place] : own) static_cast<ValuePlace&>(kernel_.code(part)) = std::move(place);
    const loop::Stmt all =
        loop::For::make(other_, IntConst::make(0), IntConst::make(extent_), merge.take());
    out.add(warps_ ? on_all(warp_, nest::warps_of_block(kernel_.nest), all) : all);
  }

 private:
  // Runs the body on all warps with their lanes, or on all threads. Each lane of a warp has its own
  // tuple.
  loop::Stmt on_all(const std::string& counter, int64_t count, loop::Stmt body) const {
    if (warps_)
      body = loop::For::make(lane_, IntConst::make(0), IntConst::make(kWarpSize), std::move(body),
                             loop::ForKind::Lane);
    return loop::For::make(counter, IntConst::make(0), IntConst::make(count), std::move(body),
                           warps_ ? loop::ForKind::Warp : loop::ForKind::Thread);
  }

  KernelScope scope_of_merge() const {
    KernelScope scope = site_.scope;
    scope.coordinates[site_.loop.var] = Var::make(other_);
    scope.thread.in_warp |= warps_;
    if (!warps_) return scope;
    scope.thread.lane = Var::make(lane_);
    scope.thread.lanes = kWarpSize;
    // A result belongs to the block: only one warp adds to it, and only lanes that have an
    // iteration of the loops over lanes inside.
    if (const int64_t inside = nest::lanes_of(kernel_.nest, site_.loop.body); inside < kWarpSize)
      store_if(scope.thread.lane < IntConst::make(inside), scope.storing);
    if (!mutant("every-warp-adds")) store_if(Var::make(warp_) == IntConst::make(0), scope.storing);
    return scope;
  }

  // Stores the thread's elements of a part in shared memory and redirects reads to the elements of
  // thread `other`. Each lane has a row of shared memory, which holds the elements of one warp
  // after the other. Returns the previous location of the part.
  ValuePlace share(const expr::Access& part, Emitter& put, Emitter& out) {
    TensorCode& target = kernel_.code(part.tensor);
    const int64_t elements = target.scalar ? 1 : target.elements;
    const int64_t row = (extent_ * elements) | 1;  // odd, so that lanes are in different banks
    const loop::Buffer shared =
        loop::make_buffer(kernel_.names.fresh("tuples"), kernel_.nest.tensor(part.tensor).type.type,
                          loop::Space::Shared);
    out.add(loop::Allocate::make(shared, IntConst::make(warps_ ? row * kWarpSize : row), false));
    const Expr base = warps_ ? Var::make(lane_) * row : IntConst::make(0);
    kernel_.for_elements(part.tensor, put,
                         [&](const Expr& element, const Expr& value, Emitter& one) {
                           one.store(shared, base + Var::make(number_) * elements + element, value);
                         });
    ValuePlace before = std::exchange(static_cast<ValuePlace&>(target), ValuePlace());
    target.values = shared;
    target.base = base + Var::make(other_) * elements;
    for (const std::string& index : part.indices) {
      const nest::Forall* loop = nest::find_loop(kernel_.nest.root, index);
      if (loop && loop->tag.is_within_block()) {
        target.levels.push_back(std::make_unique<SpreadLevel>());
      } else {
        target.levels.push_back(std::make_unique<DenseLevel>(kernel_.coordinates.extent(index)));
      }
    }
    return before;
  }

  const LoopSite& site_;
  KernelContext& kernel_ = site_.parts.kernel;
  const bool warps_ = site_.loop.tag.kind == nest::LoopTag::Kind::Warp;
  const int64_t extent_ = *kernel_.nest.known_extent(site_.loop.var);
  const std::string number_ = kernel_.names.fresh(site_.loop.var);
  const std::string lane_ = kernel_.names.fresh("lane");
  const std::string other_ = kernel_.names.fresh("other");
  const std::string warp_ = kernel_.names.fresh("warp");
};

}  // namespace

bool TuplesOfThreads::applies(const LoopSite& site) const { return combines_tuples(site); }

void TuplesOfThreads::lower(const LoopSite& site, Emitter& out) const { Merge(site).lower(out); }

}  // namespace tulle::lower
