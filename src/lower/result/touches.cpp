// Sets the flag of an entry.
#include "lower/result/touches.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

void Touches::touch(const Storing& storing, Emitter& out) const {
  if (!innermost_ || storing.touched) return;
  if (!storing.conditional) {
    innermost_->always = true;
    return;
  }
  innermost_->sometimes = true;
  out.assign(innermost_->flag, IntConst::make(1, loop::kBool));
}

void Touches::touch_if(const Expr& condition, Storing storing, Emitter& out) const {
  if (const auto* constant = condition.as<IntConst>()) {
    if (constant->value != 0) touch(storing, out);
    return;
  }
  storing.conditional = true;
  Emitter inside = out.nested();
  touch(storing, inside);
  if (!inside.empty()) out.add(loop::If::make(condition, inside.take()));
}

}  // namespace tulle::lower
