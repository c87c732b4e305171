// One case per statement that declares or assigns to a name.
#include "loop/rename_locals.h"

namespace tulle::loop {

Expr LocalRenaming::rewrite(const Expr& expr) {
  const auto* var = expr.as<Var>();
  if (!var) return Rewriter::rewrite(expr);
  if (const Expr known = parameter(expr)) return known;
  return Var::make(local(var->name), var->type);
}

Stmt LocalRenaming::rewrite(const Stmt& stmt) {
  if (const auto* let = stmt.as<Let>()) {
    const Expr value = rewrite(let->value);
    return Let::make(local(let->name), value);
  }
  if (const auto* declare = stmt.as<Declare>()) {
    const Expr init = rewrite(declare->init);
    return Declare::make(local(declare->name), init);
  }
  if (const auto* assign = stmt.as<Assign>()) {
    const Expr value = rewrite(assign->value);
    return Assign::make(local(assign->name), value);
  }
  if (const auto* loop = stmt.as<For>()) {
    const std::string var = local(loop->var);
    const Expr begin = rewrite(loop->begin), end = rewrite(loop->end);
    return For::make(var, begin, end, rewrite(loop->body), loop->loop, loop->factor, loop->step);
  }
  if (const auto* atomic = stmt.as<Atomic>(); atomic && !atomic->result.empty()) {
    const Buffer buffer = rewrite_buffer(atomic->buffer);
    const Expr index = rewrite(atomic->index), value = rewrite(atomic->value);
    return Atomic::make(atomic->op, buffer, index, value, local(atomic->result));
  }
  return Rewriter::rewrite(stmt);
}

}  // namespace tulle::loop
