// Turns a statement into a nest with a schedule.
#include "plan/plan_statement.h"

#include <algorithm>

#include "expr/walk.h"
#include "plan/order/build_nest.h"
#include "plan/order/conversion_formats.h"
#include "plan/order/estimate_entries.h"
#include "plan/order/long_sums.h"
#include "plan/rewrite/wide_sums.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Access;
using expr::Expr;

namespace {

constexpr double kFewestVisits = 8;     // of an element, for which a transposed copy pays
constexpr double kShortestTurned = 64;  // elements along which a copy is contiguous

// Whether neighbours along the index are far apart in a dense tensor that has it once.
bool is_across(const Access& access, const Format& format, const std::string& index) {
  return format.is_dense() &&
         std::count(access.indices.begin(), access.indices.end(), index) == 1 &&
         access.indices.back() != index;
}

// Whether the loops convert operands whose accesses share a number.
bool converts_operands_together(const expr::Statement& statement, const OrderChoice& choice) {
  std::map<int, std::string> converted;
  const std::vector<const Access*> reads = expr::accesses(statement.value);
  return std::any_of(reads.begin(), reads.end(), [&](const Access* access) {
    return choice.converted.contains(access->id) &&
           converted.try_emplace(access->id, access->tensor).first->second != access->tensor;
  });
}

}  // namespace

void StatementPlanner::plan(const expr::Statement& original, const StatementFreedom& freedom) {
  const auto& [may_share, may_convert, is_written] = freedom;
  expr::Statement statement = original;
  if (draft_.is_sparse(statement.tensor)) {
    const double entries = estimate_entries(statement, draft_.tensors, draft_.estimates);
    draft_.estimates.set_count(statement.tensor, entries);
  }
  // Rewrites create several copies of one access. Gives these one id.
  statement.value = numbered_by_structure(original.value);
  const std::optional<Decision> decision = draft_.decisions.take(statement.tensor);
  const bool is_scheduled = is_written && !decision && schedules_.begin_as_stored();
  const LoopChooser::Freedom loop_freedom{may_share, may_convert, is_scheduled};
  auto [problem, choice, tried] = loops_.choose(statement, loop_freedom, decision);
  draft_.plan.orders_tried += tried;
  if (converts_operands_together(statement, choice)) {
    // The copies have structures of their own.
    statement.value = expr::with_shared_numbers(
        original.value, [](const std::string& tensor) -> const auto& { return tensor; });
    auto again = loops_.choose(statement, loop_freedom, decision);
    problem = std::move(again.problem);
    choice = std::move(again.choice);
    draft_.plan.orders_tried += again.tried;
  }
  if (may_convert && !is_scheduled && turn_operands(statement, problem, choice)) {
    auto again = loops_.choose(statement, loop_freedom, decision);
    problem = std::move(again.problem);
    choice = std::move(again.choice);
  }
  if (!choice.converted.empty()) convert_operands(statement, problem, choice);
  emit(problem, choice, {is_written, decision ? decision->schedule : std::nullopt});
}

// Operands with the same structure count as one tensor.
expr::Expr StatementPlanner::numbered_by_structure(const expr::Expr& value) const {
  return expr::with_shared_numbers(value, [&](const std::string& tensor) -> const auto& {
    const std::string& like = draft_.tensors.at(tensor).like;
    return like.empty() ? tensor : like;
  });
}

// Copies operands into the order of the loops and makes the statement read the copies.
void StatementPlanner::convert_operands(expr::Statement& statement, OrderProblem& problem,
                                        OrderChoice& choice) {
  AccessReplacements replaced;
  for (const Access* access : expr::accesses(statement.value)) {
    if (!choice.converted.contains(access->id)) continue;
    const Format format = format_in_order(
        *access, draft_.tensors.at(access->tensor).format, choice.order, problem.space,
        [&](const std::string& index) { return draft_.has_most_rows(*access, index); });
    const std::string copy = converted(*access, format);
    replaced[{access->id, access->tensor}] =
        Access::make(access->id, copy, access->indices, draft_.tensors.at(copy).type);
  }
  statement.value = redirect(statement.value, replaced);
  count_operands(problem, draft_.estimates);
  choice = evaluate_order(problem, choice.order);
  TULLE_CHECK(choice.converted.empty(), "operands of ", statement.tensor, " in the order chosen");
}

// Adds a copy of the operand in another format. Returns its name.
std::string StatementPlanner::converted(const Access& access, const Format& format) {
  const std::string key = concat(access.tensor, "|", format.to_string());
  if (const auto done = conversions_.find(key); done != conversions_.end()) return done->second;
  const std::string name = concat(access.tensor, ".as", conversions_.size());
  conversions_[key] = name;
  expr::TensorType type = draft_.tensors.at(access.tensor);
  if (!type.format.is_unique()) type.type = compute_type(type.type);  // adds up duplicates
  type.format = format;
  type.like.clear();
  draft_.add_temporary(name, type);
  draft_.estimates.set_count(name, draft_.estimates.count(access.tensor, access.indices));
  draft_.note(concat(access.tensor, " is converted to ", format.name(), " (general path)"));
  draft_.follow(GpuRule::ConvertedOperand);
  expr::Statement copy{name, {}, {}};
  for (size_t d = 0; d < access.indices.size(); ++d) {
    const std::string index = concat(name, ".", d);
    copy.indices.push_back(index);
    draft_.add_alias(index, access.indices[d]);
  }
  copy.value = Access::make(0, access.tensor, copy.indices, access.type);
  plan(copy, {.may_convert = false});
  return name;
}

// On a CPU, makes the innermost loop contiguous if it sums across the rows of dense operands: it
// then reads transposed copies, if each of their elements is read often. Returns whether the
// statement reads copies.
bool StatementPlanner::turn_operands(expr::Statement& statement, const OrderProblem& problem,
                                     const OrderChoice& choice) {
  if (is_gpu(problem.backend) || choice.order.empty() || choice.vectorized) return false;
  const std::string& var = choice.order.back();
  const auto extent = problem.extents.find(var);
  const auto& inner = problem.inner;
  const bool is_summed =
      problem.reduced.contains(var) || std::find(inner.begin(), inner.end(), var) != inner.end();
  if (!is_summed || extent == problem.extents.end() || extent->second < kShortestTurned)
    return false;
  double elements = 0;
  const std::vector<const Access*> reads = expr::accesses(statement.value);
  for (const Access* access : reads) {
    if (std::find(access->indices.begin(), access->indices.end(), var) == access->indices.end())
      continue;
    const Format& format = draft_.tensors.at(access->tensor).format;
    if (format.is_dense() && access->indices.back() == var &&
        std::count(access->indices.begin(), access->indices.end(), var) == 1)
      continue;
    if (!is_across(*access, format, var)) return false;
    double size = 1;
    for (const std::string& index : access->indices) {
      const auto known = problem.extents.find(index);
      size *= known == problem.extents.end() ? 1 : known->second;
    }
    elements += size;
  }
  if (elements == 0 || choice.cost < kFewestVisits * elements) return false;
  AccessReplacements replaced;
  for (const Access* access : reads) {
    if (is_across(*access, draft_.tensors.at(access->tensor).format, var) &&
        !replaced.contains({access->id, access->tensor}))
      replaced[{access->id, access->tensor}] = turned(*access, var);
  }
  statement.value = redirect(statement.value, replaced);
  return true;
}

// A read of a copy of a dense tensor whose last dimension is that of the index.
Expr StatementPlanner::turned(const Access& access, const std::string& last) {
  const auto at = static_cast<size_t>(
      std::find(access.indices.begin(), access.indices.end(), last) - access.indices.begin());
  const auto with_last = [&](std::vector<std::string> indices) {
    std::rotate(indices.begin() + static_cast<int64_t>(at),
                indices.begin() + static_cast<int64_t>(at) + 1, indices.end());
    return indices;
  };
  const std::string key = concat(access.tensor, "|", at, " last");
  auto [done, is_new] = conversions_.try_emplace(key);
  if (is_new) {
    const std::string name = concat(access.tensor, ".as", conversions_.size() - 1);
    done->second = name;
    expr::TensorType type = draft_.tensors.at(access.tensor);
    type.like.clear();
    draft_.add_temporary(name, type);
    draft_.note(concat(access.tensor, " is transposed, so that sums read neighbours"));
    std::vector<std::string> indices;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      indices.push_back(concat(name, ".", d));
      draft_.add_alias(indices.back(), access.indices[d]);
    }
    plan({name, with_last(indices), Access::make(0, access.tensor, indices, access.type)},
         {.may_convert = false});
  }
  return Access::make(access.id, conversions_.at(key), with_last(access.indices), access.type);
}

void StatementPlanner::emit(const OrderProblem& problem, const OrderChoice& choice,
                            const Origin& origin) {
  const expr::Statement& statement = *problem.statement;
  draft_.plan.cost += choice.cost;
  draft_.plan.lines.push_back(concat(loops_line(statement.tensor, choice.order), "  # result ",
                                     text_of(choice.route), "; estimated cost ", choice.cost));
  draft_.follow(choice.route);
  if (choice.route == Route::Shared) draft_.plan.shared_patterns[statement.tensor] = choice.shared;
  if (choice.route == Route::Sort) return build_sorted(problem, choice, origin);
  push_nest(problem, choice, nest_for(problem, choice), origin);
}

nest::Nest StatementPlanner::nest_for(const OrderProblem& problem,
                                      const OrderChoice& choice) const {
  return build_nest(problem, choice, draft_.known_extents,
                    draft_.tensors.at(problem.statement->tensor));
}

namespace {

// Whether one iteration computes each entry.
bool computes_entries_once(const expr::Statement& statement,
                           const std::map<std::string, expr::TensorType>& tensors) {
  if (statement.value.as<expr::Reduce>()) return false;
  const std::vector<const Access*> reads = expr::accesses(statement.value);
  return std::all_of(reads.begin(), reads.end(), [&](const Access* access) {
    return tensors.at(access->tensor).format.is_unique();
  });
}

}  // namespace

// Collects entries in any order under another name, sorts them, and writes them in the result's
// order.
void StatementPlanner::build_sorted(const OrderProblem& problem, const OrderChoice& choice,
                                    const Origin& origin) {
  const expr::Statement& statement = *problem.statement;
  const expr::TensorType type = draft_.tensors.at(statement.tensor);
  const std::string entries = statement.tensor + ".entries";
  const std::string sorted = statement.tensor + ".sorted";
  expr::TensorType loose = type;
  loose.format = coordinates_of(type.format, false, false);
  // Duplicates are added up after sorting, and rounded only then.
  if (statement.value.as<expr::Reduce>()) loose.type = compute_type(type.type);
  expr::Statement collect = statement;
  collect.tensor = entries;
  draft_.add_temporary(entries, loose);
  OrderProblem collecting = problem;
  collecting.statement = &collect;
  // a caller's schedule for the result applies to the entries
  schedules_.rename(statement.tensor, entries);
  push_nest(collecting, choice, nest_for(collecting, choice), origin);

  expr::TensorType ordered = loose;
  ordered.format =
      coordinates_of(type.format, true, computes_entries_once(statement, draft_.tensors));
  draft_.add_temporary(sorted, ordered);
  draft_.plan.steps.emplace_back(schedule::SortEntries{entries, sorted});
  draft_.note(concat(entries, " are sorted into ", sorted));
  const expr::Statement copy{statement.tensor, statement.indices,
                             Access::make(0, sorted, statement.indices, ordered.type)};
  plan(copy, {.may_convert = false});
}

void StatementPlanner::push_nest(const OrderProblem& problem, const OrderChoice& choice,
                                 nest::Nest nest, const Origin& origin) {
  auto [schedule, rules] = schedules_.choose(problem, choice, nest, origin);
  for (const GpuRule rule : rules) draft_.follow(rule);
  draft_.plan.lines.push_back(schedule_line(schedule));
  const bool is_long = has_long_sums(problem, choice);
  if (rounds_sums(nest, problem.statement->tensor, schedule)) {
    rounded_ = std::move(nest);
    compute_wide(problem, is_long ? DType::Float64 : DType::Float32, origin.is_written);
    return rounded_.reset();
  }
  const DType type = nest.tensor(problem.statement->tensor).type.type;
  if (is_long && compute_type(type) == DType::Float32)
    return compute_wide(problem, DType::Float64, origin.is_written);
  for (const auto& [name, tensor] : nest.tensors) {
    const bool is_sum = tensor.role == nest::Tensor::Role::Workspace;
    if (is_sum && has_long_workspaces(problem, choice) && tensor.type.type == DType::Float64)
      draft_.note(concat("the sum ", name, " is accumulated in f64"));
  }
  if (origin.is_written && schedules_.wants_space())
    draft_.plan.spaces.push_back(space_of(problem, choice, nest));
  draft_.plan.steps.emplace_back(schedule::ScheduledNest{std::move(nest), std::move(schedule)});
}

// Computes the result in a wider type under another name, then plans a copy that rounds it.
void StatementPlanner::compute_wide(const OrderProblem& problem, DType wide_type, bool is_written) {
  const expr::Statement& statement = *problem.statement;
  expr::Statement wide = statement;
  wide.tensor = wide_name(statement.tensor);
  expr::TensorType type = draft_.tensors.at(statement.tensor);
  type.type = wide_type;
  draft_.add_temporary(wide.tensor, type);
  draft_.note(concat(statement.tensor, " is accumulated in ", name_of(type.type), " first, as ",
                     wide.tensor));
  draft_.follow(GpuRule::WideSum);
  draft_.plan.shared_patterns.erase(statement.tensor);
  schedules_.rename(statement.tensor, wide.tensor);
  plan(wide, {.may_convert = problem.may_convert, .is_written = is_written});
  const expr::Statement copy{statement.tensor, statement.indices,
                             Access::make(0, wide.tensor, statement.indices, type.type)};
  plan(copy, {.may_convert = false});
}

// The schedules that a search can try for the current statement: the planned one, or those that the
// rules give for the best loop order.
ScheduleSpace StatementPlanner::space_of(const OrderProblem& problem, const OrderChoice& choice,
                                         const nest::Nest& nest) const {
  if (draft_.request.spaces == Spaces::Planned) return schedules_.planned({problem, choice, nest});
  OrderChoice best = choose_order(problem);
  if (!best.converted.empty() || best.route != choice.route) best = choice;
  const nest::Nest ordered = nest_for(problem, best);
  return schedules_.space({problem, best, ordered}, nest, rounded_ ? &*rounded_ : nullptr);
}

}  // namespace tulle::plan
