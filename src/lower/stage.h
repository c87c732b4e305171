// How copies of operands are laid out, and how a loop makes them ahead of time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/kernel_context.h"
#include "lower/shared_copies.h"

namespace tulle::lower {

// A copy that a loop makes iterations before it is used.
struct Ahead {
  const nest::Where* where = nullptr;
  int depth = 1;
  std::vector<std::string> indices;
  std::vector<loop::Buffer> buffers;  // in registers, the one in use first
  std::vector<loop::Expr> scalars;    // the same, of one element
  SharedCopy shared;
  loop::Expr slot;        // in shared memory: the one in use, mutable
  loop::Expr base;        // the same: where the warp's begin in it
  loop::Buffer arriving;  // what a thread has loaded and not stored there yet; may be null
};

// The counter of a loop over `var`, and what comes to the body of such a loop at another value of
// the counter.
struct Counter {
  std::string var, name;
  loop::Expr begin, end;
  int64_t step = 1;
  std::function<void(const nest::Forall& loop, const loop::Expr& counter, Emitter& out,
                     const Body& body)>
      visit;
};

}  // namespace tulle::lower
