// Lowers assignments: the condition for a store, the thread that stores, and the value.
#pragma once

#include "lower/kernel_context.h"
#include "lower/result/result_levels.h"
#include "lower/result/touches.h"

namespace tulle::lower {

// Whether elements of the result are sums over the entries of rows that chunks cut.
bool adds_up_rows(const KernelContext& kernel);

// Whether the assigned workspace is part of a tuple.
bool is_in_tuple(const nest::Nest& nest, const nest::Assign& assign);

// Keeps references to its arguments.
class Assignments {
 public:
  Assignments(KernelContext& kernel, const Touches& touches, const ResultLevels& levels)
      : kernel_(kernel), touches_(touches), levels_(levels) {}

  void assign(const nest::Assign& assign, const KernelScope& scope, Emitter& out);

 private:
  bool is_result(const nest::Assign& assign) const { return assign.tensor == kernel_.result; }
  // Whether the assignment adds to the result of an earlier nest.
  bool adds_on(const nest::Assign& assign) const;

  void store(const nest::Assign& assign, const expr::Expr& value, const KernelScope& scope,
             Emitter& out);
  // Makes one thread store in an assignment that all threads execute.
  void store_on_one_thread(const nest::Assign& assign, const expr::Expr& value,
                           const KernelScope& scope, Emitter& out);
  void store_value(const nest::Assign& assign, const expr::Expr& value, const KernelScope& scope,
                   Emitter& out);
  void add_to_tracked(const nest::Assign& assign, const expr::Expr& value, const KernelScope& scope,
                      Emitter& out);
  void store_element(const nest::Assign& assign, const expr::Expr& value, const KernelScope& scope,
                     Emitter& out);
  // An atomic addition, because other chunks or kernels add to the same element.
  loop::Stmt atomic_store(const nest::Assign& assign, const expr::Expr& value, const loop::Expr& at,
                          const KernelScope& scope, Emitter& out);
  // The new value of an element at position `at` whose value was `old`.
  loop::Expr updated(const nest::Assign& assign, const expr::Expr& value, const loop::Expr& old,
                     const KernelScope& scope, Emitter& out);
  loop::Expr new_value(const nest::Assign& assign, const expr::Expr& value,
                       const KernelScope& scope, Emitter& out) const;
  loop::Expr element_of(const nest::Assign& assign, const KernelScope& scope) const;

  KernelContext& kernel_;
  const Touches& touches_;
  const ResultLevels& levels_;
};

}  // namespace tulle::lower
