// How copies of operands are laid out, and how a loop makes them ahead of time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/emitter.h"
#include "lower/scope.h"
#include "nest/nest.h"

namespace tulle::lower {

// What is lowered at a point of a kernel.
using Body = std::function<void(const Scope&, Emitter&)>;

// In shared memory: how it is laid out, and which threads copy.
struct SharedCopy {
  const nest::Assign* assign = nullptr;
  int64_t size = 1;    // elements of one copy
  int64_t stride = 1;  // from one copy of a warp or block to the next of it
  int64_t threads = 1, rounds = 1;
  bool in_warp = false;
};

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
