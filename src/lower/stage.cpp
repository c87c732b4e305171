// Copies of operands: in registers a loop of each thread's own, in shared memory one that all
// threads go through together.
#include "lower/kernel_lowering.h"
#include "lower/range.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

void KernelLowering::lower_staging(const nest::Where& where, const Scope& scope, Emitter& out) {
  if (!tensors_[where.workspaces.front()].is_ahead) make_copy(where, scope, out);
  lower(where.consumer, scope, out);
}

void KernelLowering::make_copy(const nest::Where& where, const Scope& scope, Emitter& out) {
  const Touches::Within nothing(touches_, nullptr);  // a copy makes no entry
  const std::string& name = where.workspaces.front();
  if (nest_.tensor(name).staging != nest::Tensor::Staging::Shared) {
    allocate_workspace(where, name, out);
    return lower(where.producer, producing(scope), out);
  }
  const SharedCopy copy = shared_.allocate(where, scope);
  const TensorCode& target = code(name);
  out.add(SharedCopies::barrier_of(copy));  // all have read what stood there before
  out.add(shared_.for_elements(copy, [&](const Expr& element, const Expr&, Emitter& inside) {
    copy_element(*copy.assign, element, scope, inside, [&](const Expr& value, Emitter& one) {
      one.store(target.values, target.base ? target.base + element : element, value);
    });
  }));
  if (!mutant("stage-without-barrier")) out.add(SharedCopies::barrier_of(copy));
}

// Element number e is at the coordinates that e has in the loops of the producer, the last of them
// fastest.
void KernelLowering::copy_element(const nest::Assign& assign, const Expr& element,
                                  const Scope& scope, Emitter& out,
                                  const std::function<void(const Expr& value, Emitter& out)>& put) {
  Scope inner = scope;
  inner.producing = true;
  inner.on_one_thread = true;
  Expr rest = element;
  for (size_t d = assign.indices.size(); d-- > 0;) {
    const std::string& index = assign.indices[d];
    const Expr extent = IntConst::make(*nest_.known_extent(index));
    inner.coordinates[index] =
        d == 0 ? rest : out.let(index, Binary::make(BinaryOp::Mod, rest, extent));
    if (d > 0) rest = out.let("rest", Binary::make(BinaryOp::Div, rest, extent));
  }
  // What is copied may be a copy over loops that were split or fused since.
  for (const expr::Access* access : expr::accesses(assign.value)) {
    for (const std::string& index : access->indices) {
      if (coordinates_.coordinate(index, inner)) continue;
      if (const Expr rebuilt = coordinates_.rebuilt(index, inner))
        inner.coordinates[index] = out.let(index, rebuilt);
    }
  }
  Emitter inside = out.nested();
  const nest::Stmt stmt = nest::Assign::make(assign.tensor, assign.indices, {}, assign.value);
  settle(stmt, inner, inside, [&](const Scope& settled, Emitter& body) {
    const DType type = nest_.tensor(assign.tensor).type.type;
    put(loop::Cast::make(type, value_of(assign.value, settled, body)), body);
  });
  const Expr fits = copy_condition(kernel_, assign, scope, inner);
  if (fits) {
    out.add(loop::If::make(fits, inside.take()));
  } else {
    for (loop::Stmt& one : inside.take_statements()) out.add(std::move(one));
  }
}

CopiesAhead::Making KernelLowering::making_copies() {
  return {.allocate =
              [this](const nest::Where& where, Emitter& out) {
                allocate_workspace(where, where.workspaces.front(), out);
              },
          .fill = [this](const nest::Stmt& producer, const Scope& scope,
                         Emitter& out) { lower(producer, scope, out); },
          .copy_element =
              [this](const nest::Assign& assign, const Expr& element, const Scope& scope,
                     Emitter& out, const std::function<void(const Expr&, Emitter&)>& put) {
                copy_element(assign, element, scope, out, put);
              }};
}

}  // namespace tulle::lower
