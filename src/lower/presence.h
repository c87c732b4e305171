// Decides at run time whether expressions have a value and whether statements do anything.
#pragma once

#include <map>

#include "lower/kernel_context.h"

namespace tulle::lower {

// Conditions at one point of a kernel: constants where they are known at compile time. Only empty
// sums and the operands in `scope.here` decide them at run time. Names the conditions of
// subexpressions and remembers them, so that all conditions together take as many operations as the
// expression. Keeps references to its arguments.
class Presence {
 public:
  Presence(const KernelContext& kernel, const KernelScope& scope, Emitter& out)
      : kernel_(kernel), absent_(scope.absent), here_(scope.here), out_(out) {}

  // Whether the expression has a value.
  loop::Expr of(const expr::Expr& expr);
  // Whether the statement does anything, as vanishes() finds for sets of absent accesses. Sums that
  // turn out to be empty do not matter.
  loop::Expr of(const nest::Stmt& stmt);
  loop::Expr of(const nest::Assign& assign);
  // Whether both hold.
  loop::Expr both(const loop::Expr& a, const loop::Expr& b);

 private:
  loop::Expr of_parts(const nest::Stmt& stmt);
  loop::Expr of_where(const nest::Where& where);
  // Whether the expression is neither absent nor the constant 0, which does not change a sum.
  loop::Expr changes_sum(const expr::Expr& expr);
  loop::Expr decide(const expr::Expr& expr);
  loop::Expr of_access(const expr::Access& access);
  loop::Expr of_extent(const expr::IndexValue& index) const;
  // `no` is the condition of the value without a condition.
  loop::Expr of_choice(const expr::Choose& choose, const loop::Expr& no);
  loop::Expr of_binary(const expr::Binary& binary);
  loop::Expr named(const loop::Expr& condition);
  loop::Expr either(const loop::Expr& a, const loop::Expr& b);
  void ask_sums(bool asks);

  const KernelContext& kernel_;
  const AccessSet& absent_;
  std::map<int, loop::Expr> here_;           // as in the scope, and the reads of workspaces
  bool asks_sums_ = true;                    // whether sums without terms have no value
  std::map<const void*, loop::Expr> known_;  // by expression
  Emitter& out_;
};

}  // namespace tulle::lower
