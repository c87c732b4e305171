// A loop of a nest at a point of a kernel, and the parts of the kernel's lowering that kinds of
// loops work with.
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

// The accesses in the loop's body whose stored levels a loop has to walk over here. Accesses found
// by arithmetic or by searching are left out if the value vanishes without the others.
AccessSet walked_accesses(const KernelContext& kernel, const nest::Forall& loop,
                          const KernelScope& scope);

struct LoopSite {
  LoopSite(LoopParts& lowering, const nest::Forall& at, const KernelScope& around);

  const nest::Variable& variable() const { return parts.kernel.nest.variable(loop.var); }
  // Whether the loop has something to do at coordinates where no walked access has an entry.
  bool visits_all() const;
  // Whether every operand below is found by arithmetic, so that no entry of the result depends on
  // a search; the accesses of `entered` are one level further than the scope says.
  bool finds_all_below(const AccessSet& entered) const;
  // While counting: whether the loop makes one entry for each coordinate that it visits, so that no
  // body is needed.
  bool only_counts_visits() const;

  LoopParts& parts;
  const nest::Forall& loop;
  const KernelScope& scope;
  const AccessSet walked;
};

}  // namespace tulle::lower
