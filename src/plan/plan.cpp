// Plans the statements of a program in order. First rewrites their reductions into reductions that
// nests can accumulate.
#include "plan/plan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/plan_statement.h"
#include "plan/reduce_first.h"
#include "plan/rewrite/arrange_sums.h"
#include "plan/rewrite/expand_places.h"
#include "plan/rewrite/expand_reductions.h"
#include "plan/rewrite/expand_softmax.h"
#include "plan/rewrite/gathering.h"
#include "plan/rewrite/inline_masked.h"
#include "plan/rewrite/split_merges.h"
#include "support/name_list.h"

namespace tulle::plan {

namespace {

// The way to compute a softmax inside of a reduction: in its loops, or first.
enum class ReducedSoftmax : uint8_t { InLoops, Stored };

class Planner {
 public:
  Planner(const Request& request, ReducedSoftmax softmax)
      : request_(request), softmax_(softmax), draft_(request) {}
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  Plan run() {
    const expr::ResolvedProgram& program = request_.program->program;
    masked_reads_ = masked_reads(program, [&](size_t number) { return has_schedule(number); });
    for (size_t s = 0; s < program.statements.size(); ++s) plan_written(program, s);
    draft_.decisions.require_all_taken();
    return std::move(draft_.plan);
  }

  // After run(): whether the plan depends on `softmax`.
  bool has_choice() const { return has_choice_; }

 private:
  // Plans a statement of the program. Skips it if it is computed where masks read it, or restricts
  // it to their entries.
  void plan_written(const expr::ResolvedProgram& program, size_t number) {
    expr::Statement statement = program.statements[number];
    statement.value = inliner_.inline_into(statement.value);
    const auto& reads = masked_reads_[number];
    if (reads && is_cheap_to_repeat(statement.value, reads->count)) {
      inliner_.add(statement);
      draft_.note(concat(statement.tensor, " is computed where it is used"));
      return;
    }
    if (reads && reads->mask && is_present_everywhere(statement.value)) {
      return plan_masked(statement, reads->mask);
    }
    schedules_.begin(number, statement.tensor);
    for (const expr::Statement& part : without_softmax(statement))
      plan_reductions(part, {.may_share = false});
    plan_reductions(statement,
                    {.may_share = contains(program.results, statement.tensor), .is_written = true});
  }

  // Plans a dense statement at the entries of a mask, within which all its reads are.
  void plan_masked(const expr::Statement& statement, const expr::Expr& mask) {
    expr::Statement part = statement;
    part.value = within_mask(mask, statement.value);
    part.tensor = draft_.add_intermediate(statement, part);
    masked_.insert(part.tensor);
    expr::Statement read = statement;
    read.value = expr::Access::make(0, part.tensor, part.indices, part.value.type());
    inliner_.add(read);
    for (const expr::Statement& before : without_softmax(part)) plan_reductions(before, {});
    plan_reductions(part, {});
  }

  // Whether the value is present at all entries of its mask, so that a sparse intermediate does not
  // differ from a dense one there.
  bool is_present_everywhere(const expr::Expr& value) const {
    const std::vector<const expr::Access*> reads = expr::accesses(value);
    return std::none_of(reads.begin(), reads.end(), [&](const expr::Access* read) {
      return draft_.is_sparse(read->tensor) && !masked_.contains(read->tensor);
    });
  }

  bool has_schedule(size_t statement) const {
    return statement < request_.schedules.size() && !request_.schedules[statement].steps.empty();
  }

  // Replaces softmax in the statement. Returns the statements to compute before it.
  std::vector<expr::Statement> without_softmax(expr::Statement& statement) {
    SoftmaxContext context;
    context.is_sparse = is_sparse_;
    context.name = [&](const expr::Statement& part) {
      return draft_.add_intermediate(statement, part);
    };
    context.same_extent = [&](const std::string& index) { return draft_.same_extent(index); };
    context.is_dense = !draft_.is_sparse(statement.tensor);
    context.stores_weights = reduces_softmax(statement) && stores_weights(statement);
    return expand_softmax(statement, context);
  }

  // Whether a softmax inside of a reduction is stored first. It is not on a GPU, and if a caller
  // schedules the loops.
  bool stores_weights(const expr::Statement& statement) {
    if (is_gpu(request_.machine.backend) || schedules_.begin_as_stored()) return false;
    if (draft_.decisions.has(statement.tensor)) {
      return draft_.decisions.has(draft_.next_part(statement));
    }
    has_choice_ = true;
    return softmax_ == ReducedSoftmax::Stored;
  }

  // Expands the reductions of the statement. Plans the statements for intermediates, then the
  // statement.
  void plan_reductions(expr::Statement written, const StatementFreedom& freedom) {
    plan_gaps(written);
    const bool is_dense = !draft_.is_sparse(written.tensor);
    const expr::Statement statement = expand_reductions(written, is_sparse_, is_dense);
    const ArrangedStatement arranged = arrange_sums(
        statement, is_sparse_,
        [&](const std::string& tensor) { return draft_.is_unbounded(tensor); },
        [&](const std::string& index) { return draft_.has_known_extent(index); },
        [&](const expr::Statement& part) { return draft_.add_intermediate(statement, part); },
        gathering_of(statement, draft_.tensors) == Gathering::Tuple);
    for (const expr::Statement& part : arranged.before) plan_merges(part, statement, {});
    plan_merges(arranged.statement, statement, freedom);
  }

  // Plans the statements for the gaps that argmax and argmin in the statement depend on.
  void plan_gaps(expr::Statement& statement) {
    const auto are_few = [&](const expr::Access& access, const std::string& row) {
      return !draft_.has_most_rows(access, row);
    };
    const auto name = [&](const expr::Statement& part, const Format& format) {
      const expr::TensorType& type = draft_.tensors.at(statement.tensor);
      return draft_.add_intermediate(statement, part, {part.value.type(), type.index_type, format});
    };
    const PlacesContext context{draft_.tensors, are_few, name};
    for (const expr::Statement& part : expand_places(statement, context)) {
      if (asks_for_positions(part.value)) {
        statements_.plan(part, {.may_convert = false});
      } else {
        plan_reductions(part, {});
      }
    }
  }

  // Splits the statement so that no nest merges too many operands, and plans the parts.
  // Intermediates are named after `whole`.
  void plan_merges(const expr::Statement& wide, const expr::Statement& whole,
                   const StatementFreedom& freedom) {
    const SplitStatement split = split_merges(wide, is_sparse_, [&](const expr::Statement& part) {
      return draft_.add_intermediate(whole, part);
    });
    for (const expr::Statement& part : split.before) plan_reduced(part, {});
    plan_reduced(split.statement, freedom);
  }

  // Plans the statement. On a GPU, plans its reductions as separate statements if these have better
  // schedules.
  void plan_reduced(const expr::Statement& statement, const StatementFreedom& freedom) {
    const bool is_scheduled = freedom.is_written && schedules_.begin_as_stored();
    const auto split = reduced_first(statement, freedom.may_share, is_scheduled, loops_, draft_);
    if (!split) return statements_.plan(statement, freedom);
    draft_.follow(GpuRule::ReducedFirst);
    for (const expr::Statement& part : split->before) statements_.plan(part, {});
    statements_.plan(split->statement, {.is_written = freedom.is_written});
  }

  const Request& request_;
  ReducedSoftmax softmax_;
  bool has_choice_ = false;
  std::vector<std::optional<MaskedReads>> masked_reads_;  // of each statement
  std::set<std::string> masked_;  // intermediates with the entries of a mask
  PlanDraft draft_;
  Inliner inliner_{[&](const std::string& index) { return draft_.same_extent(index); }};
  LoopChooser loops_{request_, draft_.tensors, draft_.estimates};
  NestSchedules schedules_{request_};
  StatementPlanner statements_{draft_, loops_, schedules_};
  const std::function<bool(const std::string&)> is_sparse_ = [this](const std::string& tensor) {
    return draft_.is_sparse(tensor);
  };
};

}  // namespace

Plan make_plan(const Request& request) {
  Planner planner(request, ReducedSoftmax::InLoops);
  Plan plan = planner.run();
  if (!planner.has_choice()) return plan;
  Plan other = Planner(request, ReducedSoftmax::Stored).run();
  const int tried = plan.orders_tried + other.orders_tried;
  if (other.cost < plan.cost) plan = std::move(other);
  plan.orders_tried = tried;
  return plan;
}

}  // namespace tulle::plan
