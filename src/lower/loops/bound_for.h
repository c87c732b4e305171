// Loops of the loop IR that are bound to parts of a GPU.
#pragma once

#include <string>

#include "loop/stmt.h"
#include "lower/kernel_context.h"

namespace tulle::lower {

// The loop of the loop IR that the tag asks for.
loop::LoopKind kind_of(const nest::LoopTag& tag);

// A loop that may be bound, over [0, end), with its counter and the thread's place around it and
// inside it.
struct BoundFor {
  // Takes the name of a lane for groups of lanes.
  BoundFor(KernelContext& kernel, const nest::Forall& loop, std::string counter,
           const ThreadPlace& place);

  // The bound loop, or what takes its place in a loop over groups of lanes.
  loop::Stmt over(KernelContext& kernel, const loop::Expr& end, loop::Stmt body) const;

  const nest::Forall& loop;
  std::string name;
  ThreadPlace around, inside;
};

}  // namespace tulle::lower
