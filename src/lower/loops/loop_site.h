// A loop of a nest at a point of a kernel, with the parts of the kernel's lowering that kinds of
// loops use.
#pragma once

#include "lower/frame.h"
#include "lower/loops/chunks.h"
#include "lower/loops/enter.h"
#include "lower/result/result_assembly.h"
#include "lower/statement_lowering.h"
#include "lower/workspaces/copies_ahead.h"

namespace tulle::lower {

struct LoopParts {
  KernelContext& kernel;
  KernelFrame& frame;
  Chunks& chunks;
  Touches& touches;
  ResultAssembly& assembly;
  SharedCopies& copies;
  CopiesAhead& ahead;
  Entering& entering;
  StatementLowering& statements;
};

// The accesses in the loop's body whose stored levels the loop must walk over. Omits accesses found
// by arithmetic or by a search if the value vanishes without the others.
AccessSet walked_accesses(const KernelContext& kernel, const nest::Forall& loop,
                          const KernelScope& scope);

struct LoopSite {
  LoopSite(LoopParts& lowering, const nest::Forall& at, const KernelScope& around);

  const nest::Variable& variable() const { return parts.kernel.nest.variable(loop.var); }
  // Whether the body does something at coordinates where no walked access has an entry.
  bool visits_all() const;
  // Whether arithmetic finds every operand below, so that no entry of the result depends on a
  // search or on operands that may have an entry. The accesses in `entered` are one level further
  // than in the scope.
  bool finds_all_below(const AccessSet& entered) const;
  // In the counting phase: whether each visited coordinate gives one entry, so that the loop needs
  // no body.
  bool only_counts_visits() const;

  LoopParts& parts;
  const nest::Forall& loop;
  const KernelScope& scope;
  const AccessSet walked;
};

}  // namespace tulle::lower
