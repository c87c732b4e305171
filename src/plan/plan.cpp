// Planning a program statement by statement.
#include "plan/plan.h"

#include <algorithm>

#include "expr/absence.h"
#include "expr/walk.h"
#include "plan/gpu/choose_gpu_schedule.h"
#include "plan/gpu/loops.h"
#include "plan/nest_schedules.h"
#include "plan/order/build_nest.h"
#include "plan/order/choose_loops.h"
#include "plan/order/conversion_formats.h"
#include "plan/order/estimates.h"
#include "plan/rewrite/arrange_sums.h"
#include "plan/rewrite/expand_places.h"
#include "plan/rewrite/expand_reductions.h"
#include "plan/rewrite/expand_softmax.h"
#include "plan/rewrite/gathering.h"
#include "plan/rewrite/inline_masked.h"
#include "plan/rewrite/intermediate_type.h"
#include "plan/rewrite/split_merges.h"
#include "plan/rewrite/split_reductions.h"
#include "plan/rewrite/wide_sums.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Access;

namespace {

// Times as long as warps have work for at most, while one of them gathers a row.
constexpr double kWaiting = 4;

class Planner {
 public:
  explicit Planner(const Request& request)
      : request_(request),
        program_(request.program->program),
        tensors_(program_.tensors),
        estimates_(request),
        known_(request.known_extents),
        decisions_(request.decisions) {}

  Plan run() {
    for (const std::string& text : request_.program->notes) note(text);
    const std::vector<bool> inlined = find_masked();
    for (size_t s = 0; s < program_.statements.size(); ++s) {
      expr::Statement statement = program_.statements[s];
      statement.value = inliner_.inline_into(statement.value);
      if (inlined[s]) {
        inliner_.add(statement);
        note(concat(statement.tensor, " is computed where it is used"));
        continue;
      }
      schedules_.begin(s, statement.tensor);
      const auto& results = program_.results;
      const bool is_result =
          std::find(results.begin(), results.end(), statement.tensor) != results.end();
      SoftmaxContext softmax;
      softmax.is_sparse = [&](const std::string& tensor) { return is_sparse(tensor); };
      softmax.name = [&](const expr::Statement& part) { return add_intermediate(statement, part); };
      softmax.same_extent = [&](const std::string& index) { return same_extent(index); };
      softmax.is_dense = !is_sparse(statement.tensor);
      for (const expr::Statement& part : expand_softmax(statement, softmax)) {
        plan_parts(part, false, false);
      }
      plan_parts(statement, is_result, true);
    }
    decisions_.require_all_taken();
    return std::move(plan_);
  }

 private:
  void note(const std::string& text) { plan_.lines.push_back("# " + text); }

  void follow(GpuRule rule) {
    if (is_gpu(request_.machine.backend)) plan_.rules.insert(rule);
  }
  void follow(Route route) {
    if (route == Route::Shared) follow(GpuRule::SharedPattern);
    if (route == Route::Append) follow(GpuRule::AppendedResult);
    if (route == Route::Tracked) follow(GpuRule::TrackedResult);
    if (route == Route::Sort) follow(GpuRule::SortedResult);
  }

  bool is_sparse(const std::string& tensor) const { return !tensors_.at(tensor).format.is_dense(); }

  // Which statements are left to the one that uses them under a mask.
  std::vector<bool> find_masked() {
    std::vector<bool> found(program_.statements.size(), false);
    for (size_t s = 0; s < program_.statements.size(); ++s) {
      const bool has_schedule =
          s < request_.schedules.size() && !request_.schedules[s].steps.empty();
      found[s] = !has_schedule && is_used_under_mask(program_, s);
    }
    return found;
  }

  // A new index of the same extent.
  std::string same_extent(const std::string& index) {
    const std::string name = concat(index, "_", plan_.extent_aliases.size(), "s");
    add_alias(name, index);
    return name;
  }

  void add_alias(const std::string& name, const std::string& index) {
    estimates_.add_index(name, index);
    const auto alias = plan_.extent_aliases.find(index);
    plan_.extent_aliases[name] = alias == plan_.extent_aliases.end() ? index : alias->second;
    const auto known = known_.find(index);
    if (known != known_.end()) known_[name] = known->second;
  }

  // What the places in a statement are told from.
  void plan_gaps(expr::Statement& statement) {
    const auto are_few = [&](const Access& access, const std::string& row) {
      return !has_most_rows(access, row);
    };
    const auto name = [&](const expr::Statement& part, const Format& format) {
      return add_intermediate(
          statement, part, {part.value.type(), tensors_.at(statement.tensor).index_type, format});
    };
    const PlacesContext context{tensors_, are_few, name};
    for (const expr::Statement& part : expand_places(statement, context)) {
      if (asks_for_positions(part.value)) {
        plan_statement(part, false, false);
      } else {
        plan_parts(part, false, false);
      }
    }
  }

  // The statement with its reductions written out, and before it what is computed on its own.
  void plan_parts(expr::Statement written, bool may_share, bool is_written) {
    plan_gaps(written);
    const bool is_dense = !is_sparse(written.tensor);
    const auto sparse = [&](const std::string& tensor) { return is_sparse(tensor); };
    const expr::Statement statement = expand_reductions(written, sparse, is_dense);
    const auto name = [&](const expr::Statement& part) {
      return add_intermediate(statement, part);
    };
    const bool keeps = gathering_of(statement, tensors_) == Gathering::Tuple;
    const auto unbounded = [&](const std::string& tensor) { return tensors_.at(tensor).unbounded; };
    const auto has_coordinates = [&](const std::string& index) {
      const auto known = known_.find(index);
      return known != known_.end() && known->second > 0;
    };
    const ArrangedStatement arranged =
        arrange_sums(statement, sparse, unbounded, has_coordinates, name, keeps);
    auto plan_split = [&](const expr::Statement& wide, bool shares) {
      const SplitStatement split = split_merges(wide, sparse, name);
      for (const expr::Statement& part : split.before) plan_reduced(part, false, false);
      plan_reduced(split.statement, shares, is_written && &wide == &arranged.statement);
    };
    for (const expr::Statement& part : arranged.before) plan_split(part, false);
    plan_split(arranged.statement, may_share);
  }

  void add_temporary(const std::string& name, const expr::TensorType& type) {
    tensors_[name] = type;
    plan_.temporaries[name] = type;
  }

  std::string name_of_part(const expr::Statement& statement) const {
    return concat(statement.tensor, "_part", plan_.temporaries.size());
  }

  // The statement, on a GPU with its reductions computed before where these have better schedules
  // alone: one that has the columns of a product, or one that rows cannot be gathered for.
  void plan_reduced(const expr::Statement& statement, bool may_share, bool is_written) {
    const auto split = is_better_split(statement, may_share, is_written)
                           ? split_reductions(statement, tensors_,
                                              [&](const expr::Statement& part) {
                                                return add_reduced(statement, part);
                                              })
                           : std::nullopt;
    if (!split) return plan_statement(statement, may_share, true, is_written);
    follow(GpuRule::ReducedFirst);
    for (const expr::Statement& part : split->before) plan_statement(part, false, true);
    plan_statement(split->statement, false, true, is_written);
  }

  bool is_better_split(const expr::Statement& statement, bool may_share, bool is_written) const {
    const size_t reductions = topmost_reductions(statement.value).size();
    if (!is_gpu(request_.machine.backend) || statement.value.as<expr::Reduce>() ||
        reductions == 0 || (is_written && schedules_.begin_as_stored()))
      return false;
    if (decisions_.has(statement.tensor)) return decisions_.has(name_of_part(statement));
    if (reductions == 1) return true;
    const ChosenLoops loops = loops_.choose(statement, {may_share, true, false}, std::nullopt);
    if (!loops.choice.converted.empty() || waits_for_a_row(loops)) return true;
    const nest::Nest nest =
        build_nest(loops.problem, loops.choice, known_, tensors_.at(statement.tensor));
    return choose_gpu_schedule(loops.problem, loops.choice, nest, request_.machine).empty();
  }

  // Whether a warp would be busy with one row for longer than all others take together.
  bool waits_for_a_row(const ChosenLoops& loops) const {
    const auto& longest = loops.problem.longest_rows;
    return std::any_of(longest.begin(), longest.end(), [&](const auto& row) {
      const auto count = loops.problem.counts.find(row.first);
      const double warps = kWarpsAtOnce * request_.machine.multiprocessors;
      return count != loops.problem.counts.end() &&
             static_cast<double>(row.second) * warps > kWaiting * count->second;
    });
  }

  // A name and a dense type for what a statement reduces.
  std::string add_reduced(const expr::Statement& statement, const expr::Statement& part) {
    const std::string name = name_of_part(statement);
    const bool unbounded = expr::may_be_infinite(
        part.value, [&](const std::string& tensor) { return tensors_.at(tensor).unbounded; });
    note(concat(name, " = ", expr::to_string(part.value), " is reduced first"));
    add_temporary(name, {compute_type(part.value.type()), tensors_.at(statement.tensor).index_type,
                         Format::dense(static_cast<int>(part.indices.size())), unbounded});
    return name;
  }

  // A name and a type for a part of the statement that is computed on its own.
  std::string add_intermediate(const expr::Statement& statement, const expr::Statement& part) {
    return add_intermediate(statement, part, intermediate_type(statement, part, tensors_));
  }
  std::string add_intermediate(const expr::Statement& statement, const expr::Statement& part,
                               const expr::TensorType& type) {
    const std::string name = name_of_part(statement);
    note(concat(name, " = ", expr::to_string(part.value), " is computed first, as ",
                type.format.name()));
    add_temporary(name, type);
    return name;
  }

  // `is_written` says that a caller wrote it, so that a caller's schedule is meant for it.
  void plan_statement(const expr::Statement& original, bool may_share, bool may_convert,
                      bool is_written = false) {
    expr::Statement statement = original;
    // Rewrites put copies of accesses next to each other that are one.
    statement.value = expr::with_shared_numbers(original.value);
    const std::optional<Decision> decision = decisions_.take(statement.tensor);
    const bool is_scheduled = is_written && !decision && schedules_.begin_as_stored();
    auto [problem, choice, tried] =
        loops_.choose(statement, {may_share, may_convert, is_scheduled}, decision);
    plan_.orders_tried += tried;
    if (!choice.converted.empty()) {
      std::map<int, expr::Expr> replaced;
      for (const Access* access : expr::accesses(statement.value)) {
        if (!choice.converted.contains(access->id)) continue;
        const std::string copy = convert(*access, format_for(*access, choice.order, problem.space));
        replaced[access->id] =
            Access::make(access->id, copy, access->indices, tensors_.at(copy).type);
      }
      statement.value = redirect(statement.value, replaced);
      count_operands(problem, estimates_);
      choice = evaluate_order(problem, choice.order);
      TULLE_CHECK(choice.converted.empty(), "operands of ", statement.tensor,
                  " in the order chosen");
    }
    emit(problem, choice, {is_written, decision ? decision->schedule : std::nullopt});
  }

  void emit(const OrderProblem& problem, const OrderChoice& choice,
            const NestSchedules::Origin& origin) {
    const expr::Statement& statement = *problem.statement;
    const expr::TensorType& type = tensors_.at(statement.tensor);
    plan_.cost += choice.cost;
    plan_.lines.push_back(concat(loops_line(statement.tensor, choice.order), "  # result ",
                                 text_of(choice.route), "; estimated cost ", choice.cost));
    follow(choice.route);
    if (choice.route == Route::Shared) plan_.shared_patterns[statement.tensor] = choice.shared;
    if (choice.route == Route::Sort) return build_sorted(problem, choice, origin);
    push_nest(problem, choice, build_nest(problem, choice, known_, type), origin);
  }

  // Entries in any order under a name of their own, sorted, then written in the order wanted.
  void build_sorted(const OrderProblem& problem, const OrderChoice& choice,
                    const NestSchedules::Origin& origin) {
    const expr::Statement& statement = *problem.statement;
    const expr::TensorType type = tensors_.at(statement.tensor);
    const std::string entries = statement.tensor + "_entries",
                      sorted = statement.tensor + "_sorted";
    expr::TensorType loose = type;
    loose.format = coordinates_of(type.format, false, false);
    // Equal coordinates are added up after sorting, and rounded then.
    if (statement.value.as<expr::Reduce>()) loose.type = compute_type(type.type);
    expr::Statement collect = statement;
    collect.tensor = entries;
    add_temporary(entries, loose);
    OrderProblem collecting = problem;
    collecting.statement = &collect;
    schedules_.rename(statement.tensor, entries);  // what a caller says of the result
    push_nest(collecting, choice, build_nest(collecting, choice, known_, loose), origin);

    expr::TensorType ordered = loose;
    ordered.format = coordinates_of(type.format, true, computes_entries_once(statement));
    add_temporary(sorted, ordered);
    plan_.steps.push_back(schedule::SortEntries{entries, sorted});
    note(concat(entries, " are sorted into ", sorted));
    const expr::Statement copy{statement.tensor, statement.indices,
                               Access::make(0, sorted, statement.indices, ordered.type)};
    plan_statement(copy, false, false);
  }

  // Whether no two iterations come to the same coordinates.
  bool computes_entries_once(const expr::Statement& statement) const {
    if (statement.value.as<expr::Reduce>()) return false;
    const std::vector<const Access*> reads = expr::accesses(statement.value);
    return std::all_of(reads.begin(), reads.end(), [&](const Access* access) {
      return tensors_.at(access->tensor).format.is_unique();
    });
  }

  void push_nest(const OrderProblem& problem, const OrderChoice& choice, nest::Nest nest,
                 const NestSchedules::Origin& origin) {
    auto [schedule, rules] = schedules_.choose(problem, choice, nest, origin);
    for (const GpuRule rule : rules) follow(rule);
    plan_.lines.push_back(schedule_line(schedule));
    if (rounds_sums(nest, problem.statement->tensor, schedule)) {
      rounded_ = std::move(nest);
      compute_wide(problem, origin.is_written);
      return rounded_.reset();
    }
    if (origin.is_written && schedules_.wants_space())
      plan_.spaces.push_back(space_of(problem, choice, nest));
    plan_.steps.push_back(schedule::ScheduledNest{std::move(nest), std::move(schedule)});
  }

  // What a search may try for the statement at hand: what the rules have, or what they make of the
  // best order of loops that begin as the nest does.
  ScheduleSpace space_of(const OrderProblem& problem, const OrderChoice& choice,
                         const nest::Nest& nest) {
    if (request_.spaces == Spaces::Planned) return schedules_.planned({problem, choice, nest});
    OrderChoice best = choose_order(problem);
    if (!best.converted.empty() || best.route != choice.route) best = choice;
    const nest::Nest ordered =
        build_nest(problem, best, known_, tensors_.at(problem.statement->tensor));
    return schedules_.space({problem, best, ordered}, nest, rounded_ ? &*rounded_ : nullptr);
  }

  // The result in f32 under a name of its own, then a copy that rounds it.
  void compute_wide(const OrderProblem& problem, bool is_written) {
    const expr::Statement& statement = *problem.statement;
    expr::Statement wide = statement;
    wide.tensor = wide_name(statement.tensor);
    expr::TensorType type = tensors_.at(statement.tensor);
    type.type = compute_type(type.type);
    add_temporary(wide.tensor, type);
    note(concat(statement.tensor, " is accumulated in ", name_of(type.type), " first, as ",
                wide.tensor));
    follow(GpuRule::WideSum);
    plan_.shared_patterns.erase(statement.tensor);
    schedules_.rename(statement.tensor, wide.tensor);
    plan_statement(wide, false, problem.may_convert, is_written);
    const expr::Statement copy{statement.tensor, statement.indices,
                               Access::make(0, wide.tensor, statement.indices, type.type)};
    plan_statement(copy, false, false);
  }

  // Whether a first level has so few gaps that it is cheaper dense.
  bool has_most_rows(const Access& access, const std::string& row) {
    return estimates_.extent(row) <= 4 * estimates_.count(access.tensor, access.indices);
  }

  // The operand in an order that the loops can walk over.
  Format format_for(const Access& access, const std::vector<std::string>& order,
                    const LoopSpace& space) {
    return format_in_order(access, tensors_.at(access.tensor).format, order, space,
                           [&](const std::string& index) { return has_most_rows(access, index); });
  }

  // A copy of the operand in another format; the name of the copy.
  std::string convert(const Access& access, const Format& format) {
    const std::string key = concat(access.tensor, "|", format.to_string());
    if (const auto done = conversions_.find(key); done != conversions_.end()) return done->second;
    const std::string name = concat(access.tensor, "_as", conversions_.size());
    conversions_[key] = name;
    expr::TensorType type = tensors_.at(access.tensor);
    if (!type.format.is_unique()) type.type = compute_type(type.type);  // adds up what is equal
    type.format = format;
    add_temporary(name, type);
    estimates_.set_count(name, estimates_.count(access.tensor, access.indices));
    note(concat(access.tensor, " is converted to ", format.name(), " (general path)"));
    follow(GpuRule::ConvertedOperand);
    expr::Statement copy{name, {}, {}};
    for (size_t d = 0; d < access.indices.size(); ++d) {
      const std::string index = concat(name, "_", d);
      copy.indices.push_back(index);
      add_alias(index, access.indices[d]);
    }
    copy.value = Access::make(0, access.tensor, copy.indices, access.type);
    plan_statement(copy, false, false);
    return name;
  }

  const Request& request_;
  const expr::ResolvedProgram& program_;
  std::map<std::string, expr::TensorType> tensors_;
  Estimates estimates_;
  std::map<std::string, int64_t> known_;
  Decisions decisions_;
  std::map<std::string, std::string> conversions_;
  Inliner inliner_{[&](const std::string& index) { return same_extent(index); }};
  LoopChooser loops_{request_, tensors_, estimates_};
  NestSchedules schedules_{request_};
  std::optional<nest::Nest> rounded_;  // by whose schedule sums would be, while they are computed
  Plan plan_;
};

}  // namespace

Plan make_plan(const Request& request) { return Planner(request).run(); }

}  // namespace tulle::plan
