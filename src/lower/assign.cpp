// Assignments: whether something is stored, who does so, and what.
#include <algorithm>

#include "expr/absence.h"
#include "lower/kernel_lowering.h"
#include "lower/monoid.h"
#include "nest/cut_rows.h"
#include "support/check.h"
#include "support/half.h"
#include "support/mutant.h"
#include "tulle/type_names.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using loop::Load;

void KernelLowering::lower_assign(const nest::Assign& assign, const Scope& scope, Emitter& out) {
  const expr::Expr value = expr::without(
      assign.value, [&](const expr::Access& access) { return scope.absent.contains(access.id); });
  const bool into_result = assign.tensor == result_;
  const bool is_sum = nest::starts_absent(assign.accumulate);
  if (is_sum ? expr::is_zero(value) : expr::is_absent(value)) {
    needs_zeros_ = needs_zeros_ || into_result;
    if (nest_.leads(assign.tensor)) code(assign.tensor).lead = {};
    return;
  }
  // Where the lead has no term, neither has what goes with it.
  if (nest::has_lead(assign.accumulate) && !code(nest_.tensor(assign.tensor).lead).lead.next)
    return;
  const Expr exists = presence(value);
  const bool keeps_track =
      into_result ? assembles() : static_cast<bool>(code(assign.tensor).written);
  if (!exists.as<IntConst>() && (keeps_track || (!is_sum && !is_in_tuple(assign)))) {
    // Every sum in it may have been one of nothing.
    Emitter inside = out.nested();
    Scope inner = scope;
    inner.conditional = true;
    store(assign, value, inner, inside);
    if (!inside.empty()) out.add(loop::If::make(exists, inside.take()));
  } else {
    store(assign, value, scope, out);
  }
}

void KernelLowering::store(const nest::Assign& assign, const expr::Expr& value, const Scope& scope,
                           Emitter& out) {
  if (assign.tensor == result_ && scope.stores_if) {
    Scope inner = scope;
    inner.stores_if = {};
    Emitter inside = out.nested();
    store(assign, value, inner, inside);
    if (!inside.empty()) out.add(loop::If::make(scope.stores_if, inside.take()));
    return;
  }
  const bool alone = assign.tensor == result_ && is_bound() && !scope.on_one_thread;
  if (!alone) return store_value(assign, value, scope, out);
  // All threads come by, and one of them writes.
  Emitter inside = out.nested();
  Scope one = scope;
  one.on_one_thread = true;
  store_value(assign, value, one, inside);
  if (inside.empty()) return;
  if (scope.lane) {
    const Expr number =
        loop::Binary::make(loop::BinaryOp::Mod, scope.lane, IntConst::make(scope.lanes));
    out.add(loop::If::make(number == IntConst::make(0), inside.take()));
    return;
  }
  out.add(loop::For::make(names_.fresh("first"), IntConst::make(0), IntConst::make(1),
                          inside.take(),
                          scope.in_warp ? loop::LoopKind::Lane : loop::LoopKind::Thread));
}

bool KernelLowering::adds_on(const nest::Assign& assign) const {
  return !nest_.tensor(assign.tensor).onto.empty() && !mutant("part-overwrites");
}

Expr KernelLowering::updated(const nest::Assign& assign, const expr::Expr& value, const Expr& old,
                             const Scope& scope, Emitter& out) {
  const DType type = nest_.tensor(assign.tensor).type.type;
  Expr fresh = loop::Cast::make(compute_type(type), value_of(value, scope, out));
  if (is_in_tuple(assign)) {
    // All of a tuple is updated in one go, without branches: by what changes nothing where there
    // is nothing.
    const Expr exists = presence(value);
    const Expr nothing = identity_of(assign.accumulate, fresh.type());
    if (!exists.as<IntConst>() && !mutant("tuple-takes-nothing"))
      fresh = loop::Select::make(exists, fresh, nothing);
  }
  if (!assign.accumulate && !adds_on(assign)) return loop::Cast::make(type, fresh);
  if (is_half(type)) {
    user_error("'", assign.tensor, "' is stored as ", long_name_of(type),
               ", so that what is added up in it would be rounded each time; gather it in float32 ",
               "first, by precompute.");
  }
  if (!assign.accumulate) {
    const nest::Monoid by = nest_.tensor(assign.tensor).onto_by;
    return combine(mutant("parts-always-added") ? nest::Monoid::Sum : by, old, fresh);
  }
  if (nest::has_lead(assign.accumulate)) {
    const Lead& lead = code(nest_.tensor(assign.tensor).lead).lead;
    return follow(lead, *assign.accumulate, old, fresh);
  }
  if (!nest_.leads(assign.tensor)) return combine(*assign.accumulate, old, fresh);
  Lead& lead = code(assign.tensor).lead;
  lead = lead_with(out, *assign.accumulate, old, fresh);
  return lead.next;
}

Expr KernelLowering::element_of(const nest::Assign& assign, const Scope& scope) const {
  if (assign.tensor == result_)
    return assembly_.position(scope, nest_.tensor(result_).type.format.level_count() - 1);
  const TensorCode& target = tensors_.at(assign.tensor);
  Expr at = IntConst::make(0);
  for (size_t d = 0; d < assign.indices.size(); ++d) {
    const Expr coordinate = coordinates_.coordinate(assign.indices[d], scope);
    const bool is_tracked = d == 0 && target.tracked;
    at = is_tracked ? coordinate : target.levels[d]->locate(at, coordinate);
  }
  return target.base ? target.base + at : at;
}

void KernelLowering::store_value(const nest::Assign& assign, const expr::Expr& value,
                                 const Scope& scope, Emitter& out) {
  const bool into_result = assign.tensor == result_;
  if ((into_result && assembles()) || has_blocks(assign.tensor)) touches_.touch(scope, out);
  TensorCode& target = code(assign.tensor);
  if (!into_result && target.written) out.assign(target.written, IntConst::make(1, loop::kBool));
  if (phase_ == Phase::Count && into_result) return;
  const bool counting = phase_ == Phase::Count;

  const loop::Type type{nest_.tensor(assign.tensor).type.type, 1};
  const auto combined = [&](const Expr& old) { return updated(assign, value, old, scope, out); };
  if (target.scalar) {
    if (!counting) out.assign(target.scalar, combined(target.scalar));
    return;
  }
  if (target.tracked && !target.tracked->block) {
    const Expr at = coordinates_.coordinate(assign.indices[0], scope);
    const Expr added = counting ? loop::constant(type, 0)
                                : loop::Cast::make(type.scalar, value_of(value, scope, out));
    add_tracked(out, *target.tracked, at, assign.accumulate.value_or(nest::Monoid::Sum), added);
    return;
  }
  if (into_result) {
    needs_zeros_ =
        needs_zeros_ || assign.accumulate.has_value() || (scope.conditional && !assembles());
  }
  const Expr at = element_of(assign, scope);
  if (counting) return;
  const bool shared = shares_result_ || (scope.is_shared_row && adds_up_rows());
  if (into_result && shared && !mutant("shared-rows-stored")) {
    const nest::Monoid monoid =
        mutant("atomics-add-maxima")
            ? nest::Monoid::Sum
            : nest::combined_by(nest_, assign).value_or(nest_.tensor(assign.tensor).onto_by);
    const loop::Stmt add =
        loop::Atomic::make(reduction_of(monoid, type), target.values, at,
                           loop::Cast::make(type.scalar, value_of(value, scope, out)));
    if (scope.by_atomics) return out.add(add);
    out.add(loop::If::make(
        scope.is_shared_row, add,
        loop::Store::make(target.values, at, combined(Load::make(target.values, at)))));
    return;
  }
  const bool streams = into_result && !assign.accumulate && !adds_on(assign) &&
                       std::find(nest_.nontemporal.begin(), nest_.nontemporal.end(), result_) !=
                           nest_.nontemporal.end();
  out.add(
      loop::Store::make(target.values, at, combined(Load::make(target.values, at)), {}, streams));
}

}  // namespace tulle::lower
