// Starts and lists the blocks of tracked workspaces.
#include "lower/workspaces/tracked_blocks.h"

#include "lower/monoid.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

const nest::Assign* block_at(const KernelContext& kernel, const nest::Stmt& stmt,
                             const KernelScope& before, const KernelScope& scope) {
  for (const nest::Assign* assign : nest::assigns(stmt)) {
    if (!kernel.code(assign->tensor).has_blocks()) continue;
    const std::string& tracked = assign->indices[0];
    if (kernel.coordinates.coordinate(tracked, scope.coordinates) &&
        !kernel.coordinates.coordinate(tracked, before.coordinates))
      return assign;
  }
  return nullptr;
}

void track_block(KernelContext& kernel, Touches& touches, const nest::Assign& assign,
                 const KernelScope& scope, Emitter& out, const BodyLowering& body) {
  const TrackedArrays& arrays = *kernel.code(assign.tensor).tracked;
  const loop::Type type{kernel.nest.tensor(assign.tensor).type.type, 1};
  const Expr coordinate = kernel.coordinates.coordinate(assign.indices[0], scope.coordinates);
  Touch mine;
  mine.flag = loop::Var::make(kernel.names.fresh("written"), loop::kBool);
  KernelScope inner = scope;
  inner.storing.conditional = false;
  inner.storing.touched = false;
  Emitter work = out.nested();
  {
    const Touches::Within within(touches, &mine);
    body(inner, work);
  }
  if (!mine.always && !mine.sometimes) return;  // nothing is ever added in this block
  kernel.facts.has_conditional_entries |= !mine.always;
  const Expr is_new = begin_block(out, arrays, coordinate, identity_of(assign.accumulate, type));
  if (mine.sometimes) {
    out.add(loop::Declare::make(mine.flag.as<loop::Var>()->name, IntConst::make(0, loop::kBool)));
  }
  out.append(work);
  end_block(out, arrays, coordinate, is_new, mine.always ? Expr() : mine.flag);
}

}  // namespace tulle::lower
