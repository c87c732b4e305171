// Copies of operands that a loop makes some iterations before their use.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/kernel_context.h"
#include "lower/workspaces/element_copies.h"
#include "lower/workspaces/shared_copies.h"
#include "lower/workspaces/workspaces.h"

namespace tulle::lower {

// A copy that a loop makes some iterations before its use.
struct Ahead {
  const nest::Where* where = nullptr;
  int depth = 1;
  std::vector<std::string> indices;
  std::vector<loop::Buffer> buffers;  // in registers: the current copy first
  std::vector<loop::Expr> scalars;    // the same for copies with one element
  SharedCopy shared;
  loop::Expr slot;        // in shared memory, mutable: the current copy
  loop::Expr base;        // in shared memory: the start of the warp's part
  loop::Buffer arriving;  // elements that are loaded but not stored; may be null
};

// The counter of a loop over `var`, and a function that lowers the loop's body with another value
// of the counter.
struct Counter {
  std::string var, name;
  loop::Expr begin, end;
  int64_t step = 1;
  std::function<void(const nest::Forall& loop, const loop::Expr& counter, Emitter& out,
                     const BodyLowering& body)>
      visit;
};

// Keeps references to its arguments.
class CopiesAhead {
 public:
  CopiesAhead(KernelContext& kernel, Workspaces& workspaces, SharedCopies& shared,
              ElementCopies& elements, StatementLowering& statements)
      : kernel_(kernel),
        workspaces_(workspaces),
        shared_(shared),
        elements_(elements),
        statements_(statements) {}

  // Allocates the copies before the loop's body is lowered.
  std::vector<Ahead> begin(const nest::Forall& loop, const KernelScope& scope, Emitter& out);
  // Adds the copies for later iterations to the lowered body. Emits those for the first iterations
  // to `out`.
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
