// The frame of a kernel and its statements.
#include "lower/kernel_lowering.h"

#include <algorithm>

#include "expr/absence.h"
#include "lower/kernel_parameters.h"
#include "lower/monoid.h"
#include "nest/absence.h"
#include "nest/staging.h"
#include "support/check.h"
#include "support/half.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using loop::Load;

KernelLowering::KernelLowering(const nest::Nest& nest, Phase phase, Device device,
                               bool shares_result)
    : kernel_(nest, phase), device_(device), shares_result_(shares_result) {
  for (const nest::Assign* assign : nest::assigns(nest.root)) {
    // A 0 may be the largest of all, and nothing is not.
    const auto reads = expr::accesses(assign->value);
    const bool fixes = !nest::starts_absent(assign->accumulate) &&
                       std::any_of(reads.begin(), reads.end(), [&](const expr::Access* access) {
                         return nest::may_be_absent(nest, access->tensor);
                       });
    find_fixing(assign->value, fixes);
  }
  // A sum outside all loops is a scalar, which has a value whatever was added up.
  for (const auto* where = nest.root.as<nest::Where>(); where;
       where = where->consumer.as<nest::Where>()) {
    for (const std::string& workspace : where->workspaces) fixing_.erase(workspace);
  }
}

bool KernelLowering::is_in_tuple(const nest::Assign& assign) const {
  return nest::has_lead(assign.accumulate) || nest_.leads(assign.tensor);
}

bool KernelLowering::splits_tuple(const nest::Stmt& stmt) const {
  const auto tuple_of = [&](const nest::Assign& assign) {
    const std::string& lead = nest_.tensor(assign.tensor).lead;
    return lead.empty() ? assign.tensor : lead;
  };
  std::set<std::string> inside;
  for (const nest::Assign* assign : nest::assigns(stmt)) {
    if (is_in_tuple(*assign)) inside.insert(tuple_of(*assign));
  }
  const auto all = nest::assigns(nest_.root);
  return std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    return inside.contains(tuple_of(*assign)) && !nest::find_assign(stmt, *assign);
  });
}

void KernelLowering::declare_tensors() {
  kernel_.chunks = loop::Var::make(names_.fresh(chunks_name(result_)));
  for (const auto& [name, variable] : nest_.variables) names_.fresh(extent_name(name));
  for (const auto& [name, tensor] : nest_.tensors) {
    if (tensor.role == nest::Tensor::Role::Workspace) continue;
    names_.fresh(name);
    names_.fresh(count_name(name));
    names_.fresh(stored_name(name));
    if (!tensor.onto.empty()) names_.fresh(tensor.onto);
    tensors_[name].values =
        buffers_of(tensor.onto.empty() ? name : tensor.onto, tensor.type).values;
  }
  // The levels of an access need its indices for extents: the same tensor has the same extents
  // wherever it is used.
  auto add_levels = [&](const std::string& name, const std::vector<std::string>& indices) {
    const nest::Tensor& tensor = nest_.tensor(name);
    TensorCode& target = tensors_[name];
    if (tensor.role == nest::Tensor::Role::Workspace || !target.levels.empty()) return;
    const TensorBuffers buffers = buffers_of(name, tensor.type);
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      const Level& level = tensor.type.format.levels()[l];
      LevelArrays arrays{
          buffers.pos[l], buffers.crd[l], coordinates_.level_extent(level.expr, indices), {}};
      for (const Level& outer : tensor.type.format.levels()) {
        if (!outer.expr.is_difference() || outer.expr.second != level.expr.dimension) continue;
        arrays.second = coordinates_.extent(indices[static_cast<size_t>(outer.expr.dimension)]);
      }
      target.levels.push_back(make_level_code(level, arrays));
    }
  };
  for (const nest::Assign* assign : nest::assigns(nest_.root)) {
    add_levels(assign->tensor, assign->indices);
    for (const expr::Access* access : expr::accesses(assign->value))
      add_levels(access->tensor, access->indices);
  }
}

loop::Kernel KernelLowering::lower(const std::string& name) {
  Emitter top(names_);
  declare_tensors();
  const Frame::Kind kind = is_bound()               ? Frame::Kind::Bound
                           : device_ == Device::Gpu ? Frame::Kind::Threads
                                                    : Frame::Kind::Workers;
  frame_.emplace(kind, name, kernel_.chunks, names_);
  Emitter before(names_), chunk(names_);
  lower_chunk(before, chunk);
  top.add(frame_->wrap(before.take_statements(), chunk.take_statements()));
  return with_parameters(name, top.take());
}

void KernelLowering::lower_chunk(Emitter& before, Emitter& out) {
  const Expr& chunk = frame_->chunk();
  hoisted_ = &before;
  Scope scope;
  scope.by_atomics = shares_result_;
  for (const nest::Assign* assign : nest::assigns(nest_.root)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      scope.cursors[access->id] = Cursor{access, 0, Positions{IntConst::make(0), {}}};
    }
  }
  assembly_.begin_chunk(chunk, scope, out);
  settle(nest_.root, scope, out, [&](const Scope& inner, Emitter& inside) {
    build_result(nest_.root, Scope{}, inner, inside,
                 [&](const Scope& s, Emitter& o) { lower(nest_.root, s, o); });
  });

  assembly_.end_chunk(chunk, out);
}

void KernelLowering::build_result(const nest::Stmt& stmt, const Scope& before, const Scope& scope,
                                  Emitter& out, const Body& body) {
  if (!scope.producing) return assembly_.build(before, scope, out, body);
  const nest::Assign* block = block_at(stmt, before, scope);
  return block ? track_block(*block, scope, out, body) : body(scope, out);
}

Expr KernelLowering::start() const {
  for (const nest::Assign* assign : nest::assigns(nest_.root)) {
    if (assign->tensor != result_ || nest::starts_absent(assign->accumulate)) continue;
    return identity_of(assign->accumulate, {nest_.tensor(result_).type.type, 1});
  }
  return {};
}

const Level& KernelLowering::level(const Cursor& cursor) const {
  return nest_.tensor(cursor.access->tensor)
      .type.format.levels()[static_cast<size_t>(cursor.level)];
}

void KernelLowering::lower(const nest::Stmt& stmt, const Scope& scope, Emitter& out) {
  if (const auto* forall = stmt.as<nest::Forall>()) {
    lower_forall(*forall, scope, out);
  } else if (const auto* where = stmt.as<nest::Where>()) {
    lower_where(*where, scope, out);
  } else if (const auto* sequence = stmt.as<nest::Sequence>()) {
    for (const nest::Stmt& part : sequence->stmts) lower(part, scope, out);
  } else {
    lower_assign(*stmt.as<nest::Assign>(), scope, out);
  }
}

void KernelLowering::lower_assign(const nest::Assign& assign, const Scope& scope, Emitter& out) {
  const expr::Expr value = expr::without(
      assign.value, [&](const expr::Access& access) { return scope.absent.contains(access.id); });
  const bool into_result = assign.tensor == result_;
  const bool is_sum = nest::starts_absent(assign.accumulate);
  if (is_sum ? expr::is_zero(value) : expr::is_absent(value)) {
    needs_zeros_ = needs_zeros_ || into_result;
    return;
  }
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

void KernelLowering::store_value(const nest::Assign& assign, const expr::Expr& value,
                                 const Scope& scope, Emitter& out) {
  const bool into_result = assign.tensor == result_;
  if ((into_result && assembles()) || has_blocks(assign.tensor)) touches_.touch(scope, out);
  TensorCode& target = code(assign.tensor);
  if (!into_result && target.written) out.assign(target.written, IntConst::make(1, loop::kBool));
  if (phase_ == Phase::Count && into_result) return;
  const bool counting = phase_ == Phase::Count;

  const loop::Type type{nest_.tensor(assign.tensor).type.type, 1};
  const bool adds = !nest_.tensor(assign.tensor).onto.empty() && !mutant("part-overwrites");
  auto combined = [&](const Expr& old) {
    Expr fresh = loop::Cast::make(compute_type(type.scalar), value_of(value, scope, out));
    if (is_in_tuple(assign)) {
      // All of a tuple is updated in one go, without branches: by what changes nothing where there
      // is nothing.
      const Expr exists = presence(value);
      const Expr nothing = identity_of(assign.accumulate, fresh.type());
      if (!exists.as<IntConst>() && !mutant("tuple-takes-nothing"))
        fresh = loop::Select::make(exists, fresh, nothing);
    }
    if (!assign.accumulate && !adds) return loop::Cast::make(type.scalar, fresh);
    if (is_half(type.scalar)) {
      user_error("'", assign.tensor, "' is stored as ", name_of(type.scalar),
                 ", so that what is added up in it would be rounded each time; gather it in f32 ",
                 "first, by precompute.");
    }
    if (!assign.accumulate) return combine(nest::Monoid::Sum, old, fresh);
    if (nest::has_lead(assign.accumulate)) {
      const Lead& lead = code(nest_.tensor(assign.tensor).lead).lead;
      return follow(lead, *assign.accumulate, old, fresh);
    }
    if (!nest_.leads(assign.tensor)) return combine(*assign.accumulate, old, fresh);
    target.lead = lead_with(out, *assign.accumulate, old, fresh);
    return target.lead.next;
  };
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
  Expr at;
  if (into_result) {
    at = assembly_.position(scope, nest_.tensor(result_).type.format.level_count() - 1);
    needs_zeros_ =
        needs_zeros_ || assign.accumulate.has_value() || (scope.conditional && !assembles());
  } else {
    at = IntConst::make(0);
    for (size_t d = 0; d < assign.indices.size(); ++d) {
      const Expr coordinate = coordinates_.coordinate(assign.indices[d], scope);
      const bool is_tracked = d == 0 && target.tracked;
      at = is_tracked ? coordinate : target.levels[d]->locate(at, coordinate);
    }
    if (target.base) at = target.base + at;
  }
  if (counting) return;
  const bool shared = shares_result_ || (scope.is_shared_row && adds_up_rows());
  if (into_result && shared && !mutant("shared-rows-stored")) {
    const loop::Stmt add =
        loop::Atomic::make(loop::ReduceOp::Add, target.values, at,
                           loop::Cast::make(type.scalar, value_of(value, scope, out)));
    if (scope.by_atomics) return out.add(add);
    out.add(loop::If::make(
        scope.is_shared_row, add,
        loop::Store::make(target.values, at, combined(Load::make(target.values, at)))));
    return;
  }
  const bool streams = into_result && !assign.accumulate && !adds &&
                       std::find(nest_.nontemporal.begin(), nest_.nontemporal.end(), result_) !=
                           nest_.nontemporal.end();
  out.add(
      loop::Store::make(target.values, at, combined(Load::make(target.values, at)), {}, streams));
}

void KernelLowering::lower_where(const nest::Where& where, const Scope& scope, Emitter& out) {
  if (nest::is_staging(where, nest_)) return lower_staging(where, scope, out);
  const AccessSet reads = absent_reads(where);
  Scope after = scope;
  if (vanishes(where.producer, scope.absent)) {
    for (const std::string& name : where.workspaces) {
      const nest::Accumulate accumulate = nest::accumulation_of(where.producer, name);
      if (!nest::starts_absent(accumulate)) allocate_workspace(where, name, out);
    }
    after.absent.insert(reads.begin(), reads.end());
    lower_consumer(where.consumer, after, out);
    return;
  }
  for (const std::string& name : where.workspaces) allocate_workspace(where, name, out);
  Scope filling = producing(scope);
  filling.conditional = true;
  const bool pieces = pieces_.gathers(where);
  if (pieces && phase_ == Phase::Merge) {
    pieces_.merge(where, scope, out);
  } else {
    const Touches::Within nothing(touches_, nullptr);  // writing a workspace makes no entry
    lower(where.producer, filling, out);
  }
  if (pieces && phase_ == Phase::Compute) {
    Emitter shared = out.nested(), whole = out.nested();
    pieces_.store(where, scope, shared);
    lower_consumer(where.consumer, after, whole);
    out.add(loop::If::make(scope.is_shared_row, shared.take(), whole.take()));
    return;
  }

  AccessSet without = scope.absent;
  without.insert(reads.begin(), reads.end());
  Expr written;
  for (const std::string& name : where.workspaces) {
    const Expr& flag = code(name).written;
    if (flag) written = written ? loop::Binary::make(loop::BinaryOp::Or, written, flag) : flag;
  }
  if (written && vanishes(where.consumer, without) && !splits_tuple(where.consumer)) {
    // The entry exists only if something was added up.
    Emitter inside = out.nested();
    after.conditional = true;
    lower_consumer(where.consumer, after, inside);
    if (!inside.empty()) out.add(loop::If::make(written, inside.take()));
  } else {
    lower_consumer(where.consumer, after, out);
  }
}

}  // namespace tulle::lower
