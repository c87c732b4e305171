// Copies of operands that a loop makes before the iterations that use them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/kernel_context.h"
#include "lower/workspaces/element_copies.h"
#include "lower/workspaces/shared_copies.h"
#include "lower/workspaces/workspaces.h"

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
  loop::Buffer arriving;  // elements loaded and not stored there yet; may be null
};

// The counter of a loop over `var`, and a function that lowers a loop's body at another value of
// the counter.
struct Counter {
  std::string var, name;
  loop::Expr begin, end;
  int64_t step = 1;
  std::function<void(const nest::Forall& loop, const loop::Expr& counter, Emitter& out,
                     const Body& body)>
      visit;
};

// Keeps references to what it is given.
class CopiesAhead {
 public:
  CopiesAhead(KernelContext& kernel, Workspaces& workspaces, SharedCopies& shared,
              ElementCopies& elements, StatementLowering& statements)
      : kernel_(kernel),
        workspaces_(workspaces),
        shared_(shared),
        elements_(elements),
        statements_(statements) {}

  // Before a loop's body is lowered: allocates its copies.
  std::vector<Ahead> begin(const nest::Forall& loop, const KernelScope& scope, Emitter& out);
  // After it: the body with the copies for iterations to come, those for the first ones in `out`.
  loop::Stmt around(const std::vector<Ahead>& all, const Counter& counter, loop::Stmt body,
                    Emitter& out);

 private:
  bool keep_in_registers(Ahead& ahead, Emitter& out);
  void await(Ahead& ahead, Emitter& out);
  void copy_into(const Ahead& ahead, int slot, const Counter& counter, const loop::Expr& at,
                 Emitter& out);
  static loop::Expr place_of(const Ahead& ahead, int slot);
  void move_up(const Ahead& ahead, const loop::Expr& is_loaded, Emitter& out);

  KernelContext& kernel_;
  Workspaces& workspaces_;
  SharedCopies& shared_;
  ElementCopies& elements_;
  StatementLowering& statements_;
};

}  // namespace tulle::lower
