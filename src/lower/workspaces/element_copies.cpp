// Computes the coordinates of an element from its number.
#include "lower/workspaces/element_copies.h"

#include "lower/range_conditions.h"
#include "lower/values.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

// Splits the number of the element into the coordinates of the producer's loops; the last loop is
// the fastest.
KernelScope ElementCopies::at_element(const nest::Assign& assign, const Expr& element,
                                      KernelScope scope, Emitter& out) const {
  scope.storing.producing = true;
  scope.thread.on_one_thread = true;
  Expr rest = element;
  for (size_t d = assign.indices.size(); d-- > 0;) {
    const std::string& index = assign.indices[d];
    const Expr extent = IntConst::make(*kernel_.nest.known_extent(index));
    scope.coordinates[index] =
        d == 0 ? rest : out.let(index, Binary::make(BinaryOp::Mod, rest, extent));
    if (d > 0) rest = out.let("rest", Binary::make(BinaryOp::Div, rest, extent));
  }
  // The source may itself be a copy over loops that were split or fused later.
  for (const expr::Access* access : expr::accesses(assign.value)) {
    for (const std::string& index : access->indices) {
      if (kernel_.coordinates.coordinate(index, scope.coordinates)) continue;
      if (const Expr rebuilt = kernel_.coordinates.rebuilt(index, scope.coordinates))
        scope.coordinates[index] = out.let(index, rebuilt);
    }
  }
  return scope;
}

void ElementCopies::load(const nest::Assign& assign, const Expr& element, const KernelScope& scope,
                         Emitter& out, const Put& put) {
  const KernelScope inner = at_element(assign, element, scope, out);
  Emitter inside = out.nested();
  const nest::Stmt stmt = nest::Assign::make(assign.tensor, assign.indices, {}, assign.value);
  statements_.settle(stmt, inner, inside, [&](const KernelScope& settled, Emitter& body) {
    const DType type = kernel_.nest.tensor(assign.tensor).type.type;
    put(loop::Cast::make(type, value_of(kernel_, assign.value, settled, body)), body);
  });
  if (const Expr fits = copy_condition(kernel_, assign, scope, inner)) {
    out.add(loop::If::make(fits, inside.take()));
  } else {
    out.append(inside);
  }
}

}  // namespace tulle::lower
