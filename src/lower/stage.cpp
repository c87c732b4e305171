// Copies of operands: in registers a loop of each thread's own, in shared memory one that all
// threads go through together.
#include <algorithm>
#include <set>

#include "loop/gpu.h"
#include "lower/kernel_lowering.h"
#include "lower/levels/dense.h"
#include "nest/bound_loops.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

void KernelLowering::lower_staging(const nest::Where& where, const Scope& scope, Emitter& out) {
  const std::string& name = where.workspaces.front();
  if (tensors_[name].is_ahead) return lower(where.consumer, scope, out);
  Touch* outer = touch_;
  touch_ = nullptr;  // a copy makes no entry
  if (nest_.tensor(name).staging == nest::Tensor::Staging::Shared) {
    const SharedCopy copy = allocate_shared(where, scope);
    const TensorCode& target = code(name);
    out.add(barrier_of(copy));  // all have read what stood there before
    out.add(for_copied(copy, [&](const Expr& element, const Expr&, Emitter& inside) {
      copy_element(*copy.assign, element, scope, inside, [&](const Expr& value, Emitter& one) {
        one.store(target.values, target.base ? target.base + element : element, value);
      });
    }));
    if (!mutant("stage-without-barrier")) out.add(barrier_of(copy));
  } else {
    allocate_workspace(where, name, out);
    lower(where.producer, producing(scope), out);
  }
  touch_ = outer;
  lower(where.consumer, scope, out);
}

SharedCopy KernelLowering::allocate_shared(const nest::Where& where, const Scope& scope) {
  const std::string& name = where.workspaces.front();
  const nest::Tensor& tensor = nest_.tensor(name);
  TensorCode& target = tensors_[name];
  SharedCopy copy{.assign = nest::assigns(where.producer).front(), .in_warp = scope.in_warp};
  target.levels.clear();
  for (const std::string& index : copy.assign->indices) {
    const int64_t extent = *nest_.known_extent(index);
    target.levels.push_back(std::make_unique<DenseLevel>(IntConst::make(extent)));
    copy.size *= extent;
  }
  const int64_t copies = scope.in_warp ? nest::warps_of_block(nest_) : 1;
  copy.stride = std::max<int64_t>(1, copy.size) * copies;
  copy.threads = scope.in_warp ? kWarpSize : nest::threads_of_block(nest_);
  copy.rounds = (copy.size + copy.threads - 1) / copy.threads;
  if (!shared_.contains(name)) {
    target.values = loop::make_buffer(names_.fresh(name), tensor.type.type, loop::Space::Shared);
    shared_[name] =
        loop::Allocate::make(target.values, IntConst::make(copy.stride * tensor.depth), false);
  }
  target.base = scope.in_warp ? scope.warp * copy.size : Expr();
  return copy;
}

loop::Stmt KernelLowering::barrier_of(const SharedCopy& copy) const {
  return loop::Barrier::make(copy.in_warp ? loop::BarrierScope::Warp : loop::BarrierScope::Block);
}

// Thread t of n takes the elements t, t + n, t + 2n, ...
loop::Stmt KernelLowering::for_copied(
    const SharedCopy& copy,
    const std::function<void(const Expr& element, const Expr& round, Emitter& out)>& one) {
  constexpr int64_t most_unrolled = 16;
  const std::string thread = names_.fresh("copier"), round = names_.fresh("round");
  Emitter body(names_), inside(names_);
  const Expr element =
      body.let("element", loop::Var::make(round) * copy.threads + loop::Var::make(thread));
  one(element, loop::Var::make(round), inside);
  loop::Stmt all = inside.take();
  if (copy.size % copy.threads != 0)
    all = loop::If::make(element < IntConst::make(copy.size), std::move(all));
  body.add(std::move(all));
  return loop::For::make(
      thread, IntConst::make(0), IntConst::make(copy.threads),
      loop::For::make(
          round, IntConst::make(0), IntConst::make(copy.rounds), body.take(),
          copy.rounds <= most_unrolled ? loop::LoopKind::Unrolled : loop::LoopKind::Serial),
      copy.in_warp ? loop::LoopKind::Lane : loop::LoopKind::Thread);
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
  Emitter inside = out.nested();
  const nest::Stmt stmt = nest::Assign::make(assign.tensor, assign.indices, {}, assign.value);
  settle(stmt, inner, inside, [&](const Scope& settled, Emitter& body) {
    const DType type = nest_.tensor(assign.tensor).type.type;
    put(loop::Cast::make(type, value_of(assign.value, settled, body)), body);
  });
  const Expr fits = copy_condition(assign, scope, inner);
  if (fits) {
    out.add(loop::If::make(fits, inside.take()));
  } else {
    for (loop::Stmt& one : inside.take_statements()) out.add(std::move(one));
  }
}

// Whether the element is one of the operand: the last block of a split reaches past the end.
Expr KernelLowering::copy_condition(const nest::Assign& assign, const Scope& before,
                                    const Scope& scope) const {
  Expr condition;
  std::set<std::string> seen;
  const std::function<void(const std::string&)> visit = [&](const std::string& var) {
    const nest::Variable& variable = nest_.variable(var);
    if (variable.origin == nest::Variable::Origin::Source) return;
    visit(variable.parent);
    if (variable.origin == nest::Variable::Origin::Fused) return visit(variable.second);
    const Expr coordinate = coordinates_.coordinate(variable.parent, scope);
    if (!coordinate || coordinates_.coordinate(variable.parent, before)) return;
    const auto known = nest_.known_extent(variable.parent);
    if ((known && *known % variable.factor == 0) || !seen.insert(variable.parent).second) return;
    const Expr fits = coordinate < coordinates_.extent(variable.parent);
    condition = condition ? loop::both(condition, fits) : fits;
  };
  for (const std::string& index : assign.indices) visit(index);
  return condition;
}

}  // namespace tulle::lower
