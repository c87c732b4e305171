// Adds up the partial sums of threads.
#include "lower/loops/partial_sums.h"

#include "loop/gpu.h"
#include "lower/monoid.h"
#include "lower/values.h"
#include "nest/bound_loops.h"
#include "support/gpu_limits.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::For;
using loop::IntConst;
using loop::Var;

namespace {

nest::Monoid monoid_of(const LoopSite& site) {
  return *site.loop.body.as<nest::Assign>()->accumulate;
}

Expr sum_of_lanes(const Expr& part, const LoopSite& site, Emitter& out) {
  const int64_t lanes = *site.parts.kernel.nest.known_extent(site.loop.var);
  const int width = static_cast<int>(mutant("lanes-half-summed") && lanes > 1 ? lanes / 2 : lanes);
  const loop::ReduceOp op = reduction_of(monoid_of(site), part.type());
  const Expr sum = width > 1 ? out.let("sum", loop::LaneReduce::make(op, part, width)) : part;
  // all lanes of the group have the sum
  if (lanes == kWarpSize || site.scope.thread.lane) return sum;
  // Lanes past the last group contribute nothing.
  return out.let(
      "sum", loop::LaneShuffle::make(loop::ShuffleMode::Index, sum, IntConst::make(0), kWarpSize));
}

// The parts of warps or threads in shared memory. Each lane of a warp has its own sum.
class SharedParts {
 public:
  explicit SharedParts(const LoopSite& site)
      : site_(site),
        warps_(site.loop.tag.kind == nest::LoopTag::Kind::Warp),
        extent_(*site.parts.kernel.nest.known_extent(site.loop.var)) {}

  Expr sum(const Expr& part, Emitter& out) {
    const loop::Type type = part.type();
    parts_ = loop::make_buffer(out.names().fresh("parts"), type.scalar, loop::Space::Shared);
    out.add(loop::Allocate::make(parts_, IntConst::make(extent_ * row_length()), false));
    const Expr total = out.declare("total", identity_of(monoid_of(site_), type));
    const loop::Stmt barrier = loop::Barrier::make(loop::BarrierScope::Block);
    const loop::Stmt writing = write(part, out);
    out.add(barrier);  // until all have read the previous contents
    out.add(writing);
    if (!mutant("parts-without-barrier")) out.add(barrier);
    out.add(read(total, out));
    return out.snapshot("sum", total);
  }

 private:
  int64_t row_length() const { return warps_ ? kWarpSize : 1; }

  // Each thread stores its part.
  loop::Stmt write(const Expr& part, Emitter& out) const {
    const std::string number = out.names().fresh("part"), lane = out.names().fresh("lane");
    Emitter put = out.nested();
    put.store(parts_, Var::make(number) * row_length() + (warps_ ? Var::make(lane) : zero()), part);
    if (!warps_)
      return For::make(number, zero(), IntConst::make(extent_), put.take(), loop::ForKind::Thread);
    return For::make(number, zero(), IntConst::make(extent_), on_lanes(lane, put.take()),
                     loop::ForKind::Warp);
  }

  // Each thread adds up all parts.
  loop::Stmt read(const Expr& total, Emitter& out) const {
    const std::string other = out.names().fresh("other");
    const auto add_all = [&](const Expr& at) {
      Emitter add = out.nested();
      add.assign(total, combine(monoid_of(site_), total, loop::Load::make(parts_, at)));
      return For::make(other, zero(), IntConst::make(extent_), add.take());
    };
    if (!warps_) return add_all(Var::make(other));
    const std::string warp = out.names().fresh("warp"), own = out.names().fresh("lane");
    const int64_t all = nest::warps_of_block(site_.parts.kernel.nest);
    return For::make(warp, zero(), IntConst::make(all),
                     on_lanes(own, add_all(Var::make(other) * row_length() + Var::make(own))),
                     loop::ForKind::Warp);
  }

  static loop::Stmt on_lanes(const std::string& lane, loop::Stmt body) {
    return For::make(lane, zero(), IntConst::make(kWarpSize), std::move(body), loop::ForKind::Lane);
  }
  static Expr zero() { return IntConst::make(0); }

  const LoopSite& site_;
  const bool warps_;
  const int64_t extent_;
  loop::Buffer parts_;
};

}  // namespace

bool PartialSums::applies(const LoopSite& site) const {
  return nest::combines(site.loop, site.parts.kernel.nest);
}

void PartialSums::lower(const LoopSite& site, Emitter& out) const {
  const nest::Forall& loop = site.loop;
  const auto& access = *loop.body.as<nest::Assign>()->value.as<expr::Access>();
  KernelScope inner = site.scope;
  inner.coordinates[loop.var] = IntConst::make(0);  // a thread only has its own part
  const auto add_up = [&](const KernelScope& settled, Emitter& body) {
    const Expr part = load(site.parts.kernel, access, settled, body);
    KernelScope known = settled;
    known.reads.values[access.id] = loop.tag.kind == nest::LoopTag::Kind::Lane
                                        ? sum_of_lanes(part, site, body)
                                        : SharedParts(site).sum(part, body);
    site.parts.statements.lower(loop.body, known, body);
  };
  site.parts.entering.settle(loop.body, inner, out, add_up);
}

}  // namespace tulle::lower
