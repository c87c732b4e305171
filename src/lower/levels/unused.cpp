// Finds and marks unused slots.
#include "lower/levels/unused.h"

#include "format/level_kind.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using loop::Load;

Expr emit_used_end(Emitter& out, const loop::Buffer& crd, const Expr& begin, const Expr& end) {
  if (mutant("padding-is-entry")) return end;
  const Expr low = out.declare("used_end", begin);
  const Expr high = out.declare("high", end);
  Emitter body = out.nested(), right = out.nested(), left = out.nested();
  const Expr half =
      body.snapshot("half", loop::Binary::make(loop::BinaryOp::Div, low + high, IntConst::make(2)));
  right.assign(low, half + 1);
  left.assign(high, half);
  const Expr unused = IntConst::make(kUnused, loop::Type{crd->element, 1});
  body.add(loop::If::make(Load::make(crd, half) != unused, right.take(), left.take()));
  out.add(loop::While::make(low < high, body.take()));
  return out.snapshot("p_end", low);
}

Expr emit_used_end(Emitter& out, const loop::Buffer& crd, const Expr& begin, int64_t slots) {
  constexpr int64_t few = 8;
  if (slots > few || mutant("padding-is-entry"))
    return emit_used_end(out, crd, begin, begin + slots);
  // These loads do not depend on each other.
  const Expr unused = IntConst::make(kUnused, loop::Type{crd->element, 1});
  Expr end = begin;
  for (int64_t slot = 0; slot < slots; ++slot) {
    end = end + loop::Select::make(Load::make(crd, begin + slot) != unused, IntConst::make(1),
                                   IntConst::make(0));
  }
  return out.let("p_end", end);
}

void mark_unused(Emitter& out, const loop::Buffer& crd, const Expr& begin, const Expr& end) {
  const std::string slot = out.names().fresh("unused");
  Emitter body = out.nested();
  body.store(crd, loop::Var::make(slot), IntConst::make(kUnused, loop::Type{crd->element, 1}));
  out.add(loop::For::make(slot, begin, end, body.take()));
}

}  // namespace tulle::lower
