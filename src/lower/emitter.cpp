// Makes fresh names and blocks.
#include "lower/emitter.h"

#include "support/check.h"

namespace tulle::lower {

loop::Expr Emitter::let(const std::string& name, const loop::Expr& value) {
  if (value.as<loop::Var>() || value.as<loop::IntConst>() || value.as<loop::FloatConst>())
    return value;
  return snapshot(name, value);
}

loop::Expr Emitter::snapshot(const std::string& name, const loop::Expr& value) {
  const std::string fresh = names_->fresh(name);
  add(loop::Let::make(fresh, value));
  return loop::Var::make(fresh, value.type());
}

loop::Expr Emitter::declare(const std::string& name, const loop::Expr& init) {
  const std::string fresh = names_->fresh(name);
  add(loop::Declare::make(fresh, init));
  return loop::Var::make(fresh, init.type());
}

void Emitter::assign(const loop::Expr& var, const loop::Expr& value) {
  const auto* target = var.as<loop::Var>();
  TULLE_CHECK(target, "an assignment to something that is no variable");
  add(loop::Assign::make(target->name, value));
}

void Emitter::append(Emitter& other) {
  for (loop::Stmt& stmt : other.take_statements()) add(std::move(stmt));
}

loop::Stmt Emitter::take() { return loop::Block::make(std::move(stmts_)); }

}  // namespace tulle::lower
