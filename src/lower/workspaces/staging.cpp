// Makes copies at their place of use.
#include "lower/workspaces/staging.h"

#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;

void Staging::lower(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  if (!kernel_.code(where.workspaces.front()).is_ahead) copy(where, scope, out);
  statements_.lower(where.consumer, scope, out);
}

void Staging::copy(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  const Touches::Within nothing(touches_, nullptr);  // a copy makes no entry
  const std::string& name = where.workspaces.front();
  if (kernel_.nest.tensor(name).staging == nest::Tensor::Staging::Shared)
    return copy_together(where, scope, out);
  workspaces_.allocate(where, name, out);
  statements_.lower(where.producer, producing(scope), out);
}

void Staging::copy_together(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  const SharedCopy copy = shared_.allocate(where, scope.thread);
  const TensorCode& target = kernel_.code(where.workspaces.front());
  out.add(SharedCopies::barrier_of(copy));  // until all have read the previous contents
  out.add(shared_.for_elements(copy, [&](const Expr& element, const Expr&, Emitter& inside) {
    elements_.load(*copy.assign, element, scope, inside, [&](const Expr& value, Emitter& one) {
      one.store(target.values, target.base ? target.base + element : element, value);
    });
  }));
  if (!mutant("stage-without-barrier")) out.add(SharedCopies::barrier_of(copy));
}

}  // namespace tulle::lower
