// Enters the body of a loop at a coordinate.
#pragma once

#include <map>

#include "lower/range_conditions.h"
#include "lower/result/result_assembly.h"
#include "lower/result/touches.h"
#include "lower/statement_lowering.h"

namespace tulle::lower {

// A loop at a coordinate. The accesses in `present` have entries there. The others in `walked` have
// none.
struct Arrival {
  const nest::Forall& loop;
  loop::Expr coordinate;
  AccessSet walked = {};
  std::map<int, Positions> present = {};
};

// Keeps references to its arguments.
class Entering {
 public:
  Entering(KernelContext& kernel, Touches& touches, ResultAssembly& assembly,
           StatementLowering& statements)
      : kernel_(kernel), touches_(touches), assembly_(assembly), statements_(statements) {}

  // Lowers the loop's body at the coordinate, or `body` instead.
  void enter(const Arrival& arrival, KernelScope scope, Emitter& out,
             const BodyLowering& body = {});
  // Resolves every level with a known coordinate, by arithmetic or by a search.
  void settle(const nest::Stmt& stmt, KernelScope scope, Emitter& out, const BodyLowering& body);
  // Wraps the body of a loop that leads from the scope `before` to this one: in an entry, if the
  // loop completes one, or in the block of a workspace.
  void build_result(const nest::Stmt& stmt, const KernelScope& before, const KernelScope& scope,
                    Emitter& out, const BodyLowering& body);

  // Lowers the body under the condition that the statement does anything here.
  void run_if_active(const nest::Stmt& stmt, const KernelScope& scope, Emitter& out,
                     const BodyLowering& body) const;

 private:
  RangeConditions conditions(const Arrival& arrival, const KernelScope& before,
                             const KernelScope& scope) const;
  // Enters the row after all conditions of the loop except `in_range`. Outside of `in_range`, a
  // result has padding rows.
  void enter_row(const nest::Forall& loop, const loop::Expr& in_range, const KernelScope& before,
                 KernelScope scope, Emitter& out, const BodyLowering& body);
  // Computes the coordinates of stored rows whose numbers are now known.
  void enter_stored(KernelScope& scope, Emitter& out) const;
  // Settles with this access looked up at a coordinate that another loop has bound. Treats it as
  // absent if it has no entry there.
  void look_up(const nest::Stmt& stmt, const expr::Access& access, const loop::Expr& coordinate,
               KernelScope scope, Emitter& out, const BodyLowering& body);

  // Looks this access up with one body for all points of a lattice: whether it has an entry at the
  // coordinate is known at run time.
  void look_up_if_here(const expr::Access& access, const loop::Expr& coordinate, KernelScope& scope,
                       Emitter& out) const;

  KernelContext& kernel_;
  Touches& touches_;
  ResultAssembly& assembly_;
  StatementLowering& statements_;
};

}  // namespace tulle::lower
