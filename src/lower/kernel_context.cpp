// Finding the result of a nest, and going through what a thread has of a workspace.
#include "lower/kernel_context.h"

#include "support/check.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

KernelContext::KernelContext(const nest::Nest& n, Phase p) : nest(n), phase(p), coordinates(n) {
  for (const nest::Assign* assign : nest::assigns(nest.root)) {
    if (nest.tensor(assign->tensor).role != nest::Tensor::Role::Result) continue;
    TULLE_CHECK(result.empty() || result == assign->tensor, "one result a nest");
    result = assign->tensor;
    result_indices = assign->indices;
  }
  TULLE_CHECK(!result.empty(), "a nest without a result");
}

void KernelContext::for_elements(
    const std::string& workspace, Emitter& out,
    const std::function<void(const Expr&, const Expr&, Emitter&)>& body) {
  const TensorCode& target = tensors.at(workspace);
  if (target.scalar) return body(IntConst::make(0), target.scalar, out);
  const std::string name = names.fresh("element");
  const Expr element = loop::Var::make(name);
  const Expr at = target.base ? target.base + element : element;
  Emitter inside = out.nested();
  body(element, loop::Load::make(target.values, at), inside);
  const bool registers = is_bound() && target.values->space == loop::Space::Local;
  out.add(loop::For::make(name, IntConst::make(0), target.size, inside.take(),
                          registers ? loop::LoopKind::Unrolled : loop::LoopKind::Serial));
}

}  // namespace tulle::lower
