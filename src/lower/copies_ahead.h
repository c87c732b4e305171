// Copies of operands that a loop makes before the iterations that use them.
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

// Keeps references to the kernel and to its copies in shared memory.
class CopiesAhead {
 public:
  // What it takes to make a copy at a point of the kernel.
  struct Making {
    // Room for the workspace, in registers.
    std::function<void(const nest::Where& where, Emitter& out)> allocate;
    // The loops that fill it there.
    std::function<void(const nest::Stmt& producer, const Scope& scope, Emitter& out)> fill;
    // Loads an element of the operand, by its number, and hands the value on.
    std::function<void(const nest::Assign& assign, const loop::Expr& element, const Scope& scope,
                       Emitter& out,
                       const std::function<void(const loop::Expr& value, Emitter& out)>& put)>
        copy_element;
  };

  CopiesAhead(KernelContext& kernel, SharedCopies& shared, Making making)
      : kernel_(kernel), shared_(shared), making_(std::move(making)) {}

  // Before a loop's body is lowered: makes room for what its copies hold.
  std::vector<Ahead> begin(const nest::Forall& loop, const Scope& scope, Emitter& out);
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
  SharedCopies& shared_;
  Making making_;
};

}  // namespace tulle::lower
