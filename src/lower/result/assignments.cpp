// Stores and accumulates values.
#include "lower/result/assignments.h"

#include <algorithm>

#include "expr/absence.h"
#include "lower/monoid.h"
#include "lower/presence.h"
#include "lower/values.h"
#include "nest/cut_rows.h"
#include "nest/row_pieces.h"
#include "support/check.h"
#include "support/half.h"
#include "support/mutant.h"
#include "tulle/type_names.h"

namespace tulle::lower {

using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

bool adds_up_rows(const KernelContext& kernel) {
  const std::vector<const nest::Assign*> all = nest::assigns(kernel.nest.root);
  return !nest::merged_pieces(kernel.nest) &&
         std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
           return assign->tensor == kernel.result && nest::adds_up_cut_rows(kernel.nest, *assign);
         });
}

bool is_in_tuple(const nest::Nest& nest, const nest::Assign& assign) {
  return nest::has_lead(assign.accumulate) || nest.leads(assign.tensor);
}

bool Assignments::adds_on(const nest::Assign& assign) const {
  return !kernel_.nest.tensor(assign.tensor).onto.empty() && !mutant("part-overwrites");
}

void Assignments::assign(const nest::Assign& assign, const KernelScope& scope, Emitter& out) {
  const expr::Expr value = expr::without(
      assign.value, [&](const expr::Access& access) { return scope.absent.contains(access.id); });
  const bool is_sum = nest::starts_absent(assign.accumulate);
  if (is_sum ? expr::is_zero(value) : expr::is_absent(value)) {
    kernel_.facts.needs_zeros = kernel_.facts.needs_zeros || is_result(assign);
    if (kernel_.nest.leads(assign.tensor)) kernel_.code(assign.tensor).lead = {};
    return;
  }
  // If the lead has no term, the other workspaces have none either.
  if (nest::has_lead(assign.accumulate) &&
      !kernel_.code(kernel_.nest.tensor(assign.tensor).lead).lead.next)
    return;
  kernel_.count_operations(value);
  Presence present(kernel_, scope, out);
  Expr exists = present.of(value);
  if (!scope.here.empty()) exists = present.both(exists, present.of(assign));
  const bool keeps_track = is_result(assign)
                               ? kernel_.assembles()
                               : static_cast<bool>(kernel_.code(assign.tensor).written);
  // Without an entry of the operand, there may be no element to store.
  const bool may_vanish = (!is_sum || !scope.here.empty()) && !is_in_tuple(kernel_.nest, assign);
  if (!exists.as<IntConst>() && (keeps_track || may_vanish)) {
    // Every sum in the value may be empty, and every operand may have no entry.
    Emitter inside = out.nested();
    KernelScope inner = scope;
    inner.storing.conditional = true;
    store(assign, value, inner, inside);
    if (!inside.empty()) out.add(loop::If::make(exists, inside.take()));
  } else {
    store(assign, value, scope, out);
  }
}

void Assignments::store(const nest::Assign& assign, const expr::Expr& value,
                        const KernelScope& scope, Emitter& out) {
  if (is_result(assign) && scope.storing.condition) {
    KernelScope inner = scope;
    inner.storing.condition = {};
    Emitter inside = out.nested();
    store(assign, value, inner, inside);
    if (!inside.empty()) out.add(loop::If::make(scope.storing.condition, inside.take()));
    return;
  }
  const bool all_come_by = is_result(assign) && kernel_.is_bound() && !scope.thread.on_one_thread;
  if (all_come_by) {
    store_on_one_thread(assign, value, scope, out);
  } else {
    store_value(assign, value, scope, out);
  }
}

void Assignments::store_on_one_thread(const nest::Assign& assign, const expr::Expr& value,
                                      const KernelScope& scope, Emitter& out) {
  Emitter inside = out.nested();
  KernelScope one = scope;
  one.thread.on_one_thread = true;
  store_value(assign, value, one, inside);
  if (inside.empty()) return;
  const ThreadPlace& thread = scope.thread;
  if (thread.lane) {
    const Expr number =
        loop::Binary::make(loop::BinaryOp::Mod, thread.lane, IntConst::make(thread.lanes));
    out.add(loop::If::make(number == IntConst::make(0), inside.take()));
    return;
  }
  out.add(loop::For::make(kernel_.names.fresh("first"), IntConst::make(0), IntConst::make(1),
                          inside.take(),
                          thread.in_warp ? loop::ForKind::Lane : loop::ForKind::Thread));
}

Expr Assignments::new_value(const nest::Assign& assign, const expr::Expr& value,
                            const KernelScope& scope, Emitter& out) const {
  const DType type = kernel_.nest.tensor(assign.tensor).type.type;
  const Expr fresh = Cast::make(compute_type(type), value_of(kernel_, value, scope, out));
  if (!is_in_tuple(kernel_.nest, assign)) return fresh;
  // Updates a tuple as a whole and without branches. If the sum is empty, the update is the
  // identity.
  const Expr exists = Presence(kernel_, scope, out).of(value);
  const Expr nothing = identity_of(assign.accumulate, fresh.type());
  return exists.as<IntConst>() || mutant("tuple-takes-nothing")
             ? fresh
             : loop::Select::make(exists, fresh, nothing);
}

Expr Assignments::updated(const nest::Assign& assign, const expr::Expr& value, const Expr& old,
                          const KernelScope& scope, Emitter& out) {
  const nest::Tensor& tensor = kernel_.nest.tensor(assign.tensor);
  const DType type = tensor.type.type;
  const Expr fresh = new_value(assign, value, scope, out);
  if (!assign.accumulate && !adds_on(assign)) return Cast::make(type, fresh);
  if (is_half(type)) {
    user_error("'", assign.tensor, "' is stored as ", long_name_of(type),
               ", so that each addition would round it; gather the sum in float32 first, with ",
               "precompute.");
  }
  if (!assign.accumulate)
    return combine(mutant("parts-always-added") ? nest::Monoid::Sum : tensor.onto_by, old, fresh);
  if (nest::has_lead(assign.accumulate)) {
    const Lead& lead = kernel_.code(tensor.lead).lead;
    return follow(lead, *assign.accumulate, old, fresh);
  }
  if (!kernel_.nest.leads(assign.tensor)) return combine(*assign.accumulate, old, fresh);
  Lead& lead = kernel_.code(assign.tensor).lead;
  lead = lead_with(out, *assign.accumulate, old, fresh);
  return lead.next;
}

Expr Assignments::element_of(const nest::Assign& assign, const KernelScope& scope) const {
  if (is_result(assign)) {
    const Format& format = kernel_.nest.tensor(kernel_.result).type.format;
    return levels_.position(scope, format.level_count() - 1);
  }
  const TensorCode& target = kernel_.code(assign.tensor);
  Expr at = IntConst::make(0);
  for (size_t d = 0; d < assign.indices.size(); ++d) {
    const Expr coordinate = kernel_.coordinates.coordinate(assign.indices[d], scope.coordinates);
    const bool is_tracked = d == 0 && target.tracked;
    at = is_tracked ? coordinate : target.levels[d]->locate(at, coordinate);
  }
  return target.base ? target.base + at : at;
}

void Assignments::store_value(const nest::Assign& assign, const expr::Expr& value,
                              const KernelScope& scope, Emitter& out) {
  TensorCode& target = kernel_.code(assign.tensor);
  const bool into_result = is_result(assign);
  if ((into_result && kernel_.assembles()) || target.has_blocks())
    touches_.touch(scope.storing, out);
  if (!into_result && target.written) out.assign(target.written, IntConst::make(1, loop::kBool));
  const bool counting = kernel_.phase == Phase::Count;
  if (counting && into_result) return;
  if (target.scalar) {
    if (!counting) out.assign(target.scalar, updated(assign, value, target.scalar, scope, out));
    return;
  }
  if (target.tracked && !target.has_blocks()) return add_to_tracked(assign, value, scope, out);
  if (into_result) {
    kernel_.facts.needs_zeros = kernel_.facts.needs_zeros || assign.accumulate.has_value() ||
                                (scope.storing.conditional && !kernel_.assembles());
  }
  if (!counting) store_element(assign, value, scope, out);
}

void Assignments::add_to_tracked(const nest::Assign& assign, const expr::Expr& value,
                                 const KernelScope& scope, Emitter& out) {
  const loop::Type type{kernel_.nest.tensor(assign.tensor).type.type, 1};
  const Expr at = kernel_.coordinates.coordinate(assign.indices[0], scope.coordinates);
  const Expr added = kernel_.phase == Phase::Count
                         ? loop::constant(type, 0)
                         : Cast::make(type.scalar, value_of(kernel_, value, scope, out));
  add_tracked(out, *kernel_.code(assign.tensor).tracked, at,
              assign.accumulate.value_or(nest::Monoid::Sum), added);
}

void Assignments::store_element(const nest::Assign& assign, const expr::Expr& value,
                                const KernelScope& scope, Emitter& out) {
  const TensorCode& target = kernel_.code(assign.tensor);
  const Expr at = element_of(assign, scope);
  const bool is_shared =
      kernel_.request.shares_result || (scope.row.is_shared && adds_up_rows(kernel_));
  if (is_result(assign) && is_shared && !mutant("shared-rows-stored"))
    return out.add(atomic_store(assign, value, at, scope, out));
  const auto& streamed = kernel_.nest.nontemporal;
  const bool streams =
      is_result(assign) && !assign.accumulate && !adds_on(assign) &&
      std::find(streamed.begin(), streamed.end(), kernel_.result) != streamed.end();
  const Expr next = updated(assign, value, Load::make(target.values, at), scope, out);
  out.add(loop::Store::make(target.values, at, next, {}, streams));
}

loop::Stmt Assignments::atomic_store(const nest::Assign& assign, const expr::Expr& value,
                                     const Expr& at, const KernelScope& scope, Emitter& out) {
  const nest::Tensor& tensor = kernel_.nest.tensor(assign.tensor);
  const loop::Buffer& values = kernel_.code(assign.tensor).values;
  const loop::Type type{tensor.type.type, 1};
  const nest::Monoid monoid =
      mutant("atomics-add-maxima")
          ? nest::Monoid::Sum
          : nest::combined_by(kernel_.nest, assign).value_or(tensor.onto_by);
  const loop::Stmt add =
      loop::Atomic::make(reduction_of(monoid, type), values, at,
                         Cast::make(type.scalar, value_of(kernel_, value, scope, out)));
  if (scope.storing.by_atomics) return add;
  const Expr next = updated(assign, value, Load::make(values, at), scope, out);
  return loop::If::make(scope.row.is_shared, add, loop::Store::make(values, at, next));
}

}  // namespace tulle::lower
