// Entering the body of a loop at a coordinate.
#pragma once

#include <map>

#include "lower/range_conditions.h"
#include "lower/result/result_assembly.h"
#include "lower/result/touches.h"
#include "lower/statement_lowering.h"

namespace tulle::lower {

// A loop at a coordinate. The accesses of `present` have entries there, the others of `walked` have
// none.
struct Arrival {
  const nest::Forall& loop;
  loop::Expr coordinate;
  AccessSet walked = {};
  std::map<int, Positions> present = {};
};

// Keeps references to what it is given.
class Entering {
 public:
  Entering(KernelContext& kernel, Touches& touches, ResultAssembly& assembly,
           StatementLowering& statements)
      : kernel_(kernel), touches_(touches), assembly_(assembly), statements_(statements) {}

  // Lowers the loop's body there, or `body` in its place.
  void enter(const Arrival& arrival, KernelScope scope, Emitter& out, const Body& body = {});
  // Resolves every level whose coordinate is known: by arithmetic or by searching.
  void settle(const nest::Stmt& stmt, KernelScope scope, Emitter& out, const Body& body);
  // Around the body of a loop that leads from the scope `before` to this one: an entry, if the loop
  // completes one, or the block of a workspace.
  void build_result(const nest::Stmt& stmt, const KernelScope& before, const KernelScope& scope,
                    Emitter& out, const Body& body);

 private:
  RangeConditions conditions(const Arrival& arrival, const KernelScope& before,
                             const KernelScope& scope) const;
  // Behind the loop's conditions but for `in_range`, outside of which a result has rows of padding.
  void enter_row(const nest::Forall& loop, const loop::Expr& in_range, const KernelScope& before,
                 KernelScope scope, Emitter& out, const Body& body);
  // Finds the stored rows whose numbers have become known.
  void enter_stored(KernelScope& scope, Emitter& out) const;
  // Settles with this access looked up at a coordinate that another loop has bound, and without it
  // where it has no entry there.
  void look_up(const nest::Stmt& stmt, const expr::Access& access, const loop::Expr& coordinate,
               KernelScope scope, Emitter& out, const Body& body);

  KernelContext& kernel_;
  Touches& touches_;
  ResultAssembly& assembly_;
  StatementLowering& statements_;
};

}  // namespace tulle::lower
