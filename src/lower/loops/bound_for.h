// Loops of the loop IR that are bound to parts of a GPU.
#pragma once

#include <string>

#include "loop/stmt.h"
#include "lower/kernel_context.h"

namespace tulle::lower {

// The kind of loop in the loop IR for the tag.
loop::ForKind kind_of(const nest::LoopTag& tag);

// A loop over [0, end) that may be bound, with its counter and the thread's place outside and
// inside it.
struct BoundFor {
  // Reserves the name of a lane for groups of lanes.
  BoundFor(KernelContext& kernel, const nest::Forall& loop, std::string counter,
           const ThreadPlace& place);

  // The bound loop. Inside a loop over groups of lanes, the code that replaces it.
  loop::Stmt over(KernelContext& kernel, const loop::Expr& end, loop::Stmt body) const;

  const nest::Forall& loop;
  std::string name;
  ThreadPlace around, inside;
};

}  // namespace tulle::lower
