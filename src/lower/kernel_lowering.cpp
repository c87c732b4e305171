// The frame of a kernel and its statements.
#include "lower/kernel_lowering.h"

#include <algorithm>

#include "lower/kernel_parameters.h"
#include "lower/monoid.h"
#include "nest/absence.h"
#include "nest/bound_loops.h"
#include "nest/cut_rows.h"
#include "nest/staging.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

KernelLowering::KernelLowering(const nest::Nest& nest, Phase phase, Backend backend,
                               bool shares_result)
    : kernel_(nest, phase),
      backend_(backend),
      shares_result_(shares_result),
      told_from_zero_(nest::told_from_zero(nest)) {}

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
  const Frame::Kind kind = is_bound()                 ? Frame::Kind::Bound
                           : backend_ == Backend::Gpu ? Frame::Kind::Threads
                                                      : Frame::Kind::Workers;
  frame_.emplace(kind, name, kernel_.chunks, names_, members());
  if (frame_->members() > 1 && !mutant("members-all-store"))
    kernel_.stores_structure = frame_->member() == IntConst::make(0);
  Emitter before(names_), chunk(names_);
  lower_chunk(before, chunk);
  top.add(frame_->wrap(before.take_statements(), chunk.take_statements()));
  return with_parameters(name, top.take());
}

int64_t KernelLowering::members() const {
  int64_t count = 1;
  if (phase_ != Phase::Fill || !shares_values_) return count;
  for (const std::string& var : nest::member_variables(nest_))
    count *= nest_.known_extent(var).value_or(1);
  return count;
}

Expr KernelLowering::first_of_member(const std::string& var) const {
  Expr rest = frame_->member();
  int64_t inside = 1;
  const std::vector<std::string> variables = nest::member_variables(nest_);
  for (auto inner = variables.rbegin(); *inner != var; ++inner)
    inside *= nest_.known_extent(*inner).value_or(1);
  if (inside > 1 && !mutant("members-mixed"))
    rest = loop::Binary::make(loop::BinaryOp::Div, rest, IntConst::make(inside));
  if (variables.front() == var) return rest;
  return loop::Binary::make(loop::BinaryOp::Mod, rest,
                            IntConst::make(nest_.known_extent(var).value_or(1)));
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

bool KernelLowering::is_result_index(const std::string& index) const {
  const std::vector<const nest::Assign*> all = nest::assigns(nest_.root);
  return std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    const auto& indices = assign->indices;
    return assign->tensor == result_ &&
           std::find(indices.begin(), indices.end(), index) != indices.end();
  });
}

Expr KernelLowering::start() const {
  using Origin = nest::Variable::Origin;
  const bool leaves_rows_out =
      std::any_of(nest_.variables.begin(), nest_.variables.end(), [&](const auto& entry) {
        const nest::Variable& variable = entry.second;
        return variable.origin == Origin::Stored ||
               (variable.origin == Origin::InnerPosition && is_result_index(variable.parent));
      });
  // Then elements may be left as they start, or be put together with it, though what a row has
  // gathered is stored rather than accumulated.
  const bool is_partly_stored = shares_result_ || leaves_rows_out || adds_up_rows();
  for (const nest::Assign* assign : nest::assigns(nest_.root)) {
    const nest::Accumulate accumulate =
        is_partly_stored ? nest::combined_by(nest_, *assign) : assign->accumulate;
    if (assign->tensor != result_ || nest::starts_absent(accumulate)) continue;
    return identity_of(accumulate, {nest_.tensor(result_).type.type, 1});
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

void KernelLowering::lower_where(const nest::Where& where, const Scope& scope, Emitter& out) {
  if (nest::is_staging(where, nest_)) return lower_staging(where, scope, out);
  const AccessSet reads = absent_reads(where);
  Scope after = scope;
  if (vanishes(where.producer, scope.absent)) {
    const bool is_exchanged = nest::has_bound_loops(where.consumer);  // whatever there is of it
    for (const std::string& name : where.workspaces) {
      const nest::Accumulate accumulate = nest::accumulation_of(where.producer, name);
      if (is_exchanged || !nest::starts_absent(accumulate)) allocate_workspace(where, name, out);
    }
    after.absent.insert(reads.begin(), reads.end());
    lower_consumer(where.consumer, after, out);
    return;
  }
  for (const std::string& name : where.workspaces) allocate_workspace(where, name, out);
  Scope filling = producing(scope);
  filling.conditional = true;
  const bool pieces = tuple_pieces_.gathers(where);
  if (pieces && phase_ == Phase::Merge) {
    tuple_pieces_.merge(where, scope, out);
  } else {
    const Touches::Within nothing(touches_, nullptr);  // writing a workspace makes no entry
    lower(where.producer, filling, out);
  }
  if (pieces && phase_ == Phase::Compute) {
    Emitter shared = out.nested(), whole = out.nested();
    tuple_pieces_.store(where, scope, shared);
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
