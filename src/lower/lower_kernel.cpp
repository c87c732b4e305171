// Combines the parts of one kernel's lowering.
#include <algorithm>

#include "lower/frame.h"
#include "lower/kernel_parameters.h"
#include "lower/loops/chunks.h"
#include "lower/loops/enter.h"
#include "lower/loops/loop_table.h"
#include "lower/lowered_kernel.h"
#include "lower/members.h"
#include "lower/monoid.h"
#include "lower/result/assignments.h"
#include "lower/result/result_assembly.h"
#include "lower/result/tuple_pieces.h"
#include "lower/workspaces/copies_ahead.h"
#include "lower/workspaces/staging.h"
#include "lower/workspaces/wheres.h"
#include "nest/cut_rows.h"
#include "nest/staging.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

KernelFrame::Kind frame_kind(const KernelContext& kernel) {
  return kernel.is_bound() ? KernelFrame::Kind::Bound : KernelFrame::kind_for(kernel.options());
}

class KernelLowering final : public StatementLowering {
 public:
  KernelLowering(const nest::Nest& nest, const KernelRequest& request) : kernel_(nest, request) {
    if (frame_.members() > 1 && !mutant("members-all-store"))
      kernel_.stores_structure = frame_.member() == IntConst::make(0);
  }
  KernelLowering(const KernelLowering&) = delete;
  KernelLowering& operator=(const KernelLowering&) = delete;

  LoweredKernel lower();

  void lower(const nest::Stmt& stmt, const KernelScope& scope, Emitter& out) override;
  void settle(const nest::Stmt& stmt, KernelScope scope, Emitter& out,
              const BodyLowering& body) override {
    entering_.settle(stmt, std::move(scope), out, body);
  }

 private:
  KernelScope initial_scope() const;
  void lower_chunk(Emitter& out);
  Expr start() const;

  KernelContext kernel_;
  KernelFrame frame_{frame_kind(kernel_),  kernel_.options().limits,
                     kernel_.request.name, kernel_.chunks,
                     kernel_.names,        members_of_chunk(kernel_)};
  Emitter hoisted_{kernel_.names};  // before the outermost loop of a chunk
  Touches touches_;
  ResultAssembly assembly_{kernel_, touches_};
  TuplePieces pieces_{kernel_};
  Assignments assignments_{kernel_, touches_, assembly_.levels()};
  Entering entering_{kernel_, touches_, assembly_, *this};
  Workspaces workspaces_{kernel_, assembly_.levels(), frame_, hoisted_};
  SharedCopies copies_{kernel_};
  ElementCopies elements_{kernel_, *this};
  Staging staging_{kernel_, touches_, workspaces_, copies_, elements_, *this};
  CopiesAhead ahead_{kernel_, workspaces_, copies_, elements_, *this};
  Wheres wheres_{kernel_, touches_, workspaces_, pieces_, *this};
  Chunks chunks_{kernel_, frame_};
  LoopParts loops_{kernel_, frame_, chunks_,   touches_, assembly_,
                   copies_, ahead_, entering_, *this};
};

LoweredKernel KernelLowering::lower() {
  Emitter top(kernel_.names), chunk(kernel_.names);
  lower_chunk(chunk);
  top.add(frame_.wrap(hoisted_.take_statements(), chunk.take_statements()));

  LoweredKernel lowered;
  lowered.kernel = with_parameters(kernel_.request.name, top.take());
  frame_.launch(lowered.launch);
  lowered.start = start();
  lowered.has_row_pieces = pieces_.any();
  lowered.row_pieces = pieces_.arrays();
  lowered.members_disagree = members_of_chunk(kernel_) > 1 && kernel_.facts.has_conditional_entries;
  lowered.facts = std::move(kernel_.facts);
  return lowered;
}

KernelScope KernelLowering::initial_scope() const {
  KernelScope scope;
  scope.storing.by_atomics = kernel_.request.shares_result;
  for (const nest::Assign* assign : nest::assigns(kernel_.nest.root)) {
    for (const expr::Access* access : expr::accesses(assign->value))
      scope.cursors.try_emplace(access->id, Cursor{access, 0, Positions{IntConst::make(0), {}}});
  }
  return scope;
}

void KernelLowering::lower_chunk(Emitter& out) {
  const nest::Stmt& root = kernel_.nest.root;
  KernelScope scope = initial_scope();
  assembly_.begin_chunk(frame_.chunk(), scope, out);
  settle(root, scope, out, [&](const KernelScope& inner, Emitter& inside) {
    entering_.build_result(root, KernelScope{}, inner, inside,
                           [&](const KernelScope& s, Emitter& o) { lower(root, s, o); });
  });
  assembly_.end_chunk(frame_.chunk(), out);
}

void KernelLowering::lower(const nest::Stmt& stmt, const KernelScope& scope, Emitter& out) {
  if (const auto* forall = stmt.as<nest::Forall>()) {
    lower_loop(loops_, *forall, scope, out);
  } else if (const auto* where = stmt.as<nest::Where>()) {
    const bool is_copy = nest::is_staging(*where, kernel_.nest);
    is_copy ? staging_.lower(*where, scope, out) : wheres_.lower(*where, scope, out);
  } else if (const auto* sequence = stmt.as<nest::Sequence>()) {
    for (const nest::Stmt& part : sequence->stmts) lower(part, scope, out);
  } else {
    assignments_.assign(*stmt.as<nest::Assign>(), scope, out);
  }
}

bool is_result_index(const KernelContext& kernel, const std::string& index) {
  const std::vector<const nest::Assign*> all = nest::assigns(kernel.nest.root);
  return std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    const auto& indices = assign->indices;
    return assign->tensor == kernel.result &&
           std::find(indices.begin(), indices.end(), index) != indices.end();
  });
}

// Whether the loops skip some rows of the result.
bool leaves_rows_out(const KernelContext& kernel) {
  using Origin = nest::Variable::Origin;
  const auto& variables = kernel.nest.variables;
  return std::any_of(variables.begin(), variables.end(), [&](const auto& entry) {
    const nest::Variable& variable = entry.second;
    return variable.origin == Origin::Stored ||
           (variable.origin == Origin::InnerPosition && is_result_index(kernel, variable.parent));
  });
}

Expr KernelLowering::start() const {
  // In these cases some elements keep their initial value or are combined with it, even if the nest
  // stores other rows without accumulation.
  const bool is_partly_stored =
      kernel_.request.shares_result || leaves_rows_out(kernel_) || adds_up_rows(kernel_);
  for (const nest::Assign* assign : nest::assigns(kernel_.nest.root)) {
    const nest::Accumulate accumulate =
        is_partly_stored ? nest::combined_by(kernel_.nest, *assign) : assign->accumulate;
    if (assign->tensor != kernel_.result || nest::starts_absent(accumulate)) continue;
    return identity_of(accumulate, {kernel_.nest.tensor(kernel_.result).type.type, 1});
  }
  return {};
}

}  // namespace

LoweredKernel lower_kernel(const nest::Nest& nest, const KernelRequest& request) {
  try {
    return KernelLowering(nest, request).lower();
  } catch (const TooManyBodies&) {
    KernelRequest compact = request;
    compact.one_body = true;
    return KernelLowering(nest, compact).lower();
  }
}

}  // namespace tulle::lower
