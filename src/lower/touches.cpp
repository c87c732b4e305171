// Setting the flag of an entry.
#include "lower/touches.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

void Touches::touch(const Scope& scope, Emitter& out) const {
  if (!innermost_ || scope.touched) return;
  if (!scope.conditional) {
    innermost_->always = true;
    return;
  }
  innermost_->sometimes = true;
  out.assign(innermost_->flag, IntConst::make(1, loop::kBool));
}

void Touches::touch_if(const Expr& condition, Scope scope, Emitter& out) const {
  if (const auto* constant = condition.as<IntConst>()) {
    if (constant->value != 0) touch(scope, out);
    return;
  }
  scope.conditional = true;
  Emitter inside = out.nested();
  touch(scope, inside);
  if (!inside.empty()) out.add(loop::If::make(condition, inside.take()));
}

}  // namespace tulle::lower
