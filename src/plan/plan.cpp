// Planning a program statement by statement.
#include "plan/plan.h"

#include <algorithm>

#include "expr/absence.h"
#include "expr/padding.h"
#include "expr/result_format.h"
#include "expr/walk.h"
#include "plan/arrange_sums.h"
#include "plan/build_nest.h"
#include "plan/choose_schedule.h"
#include "plan/conversion_formats.h"
#include "plan/estimates.h"
#include "plan/expand_reductions.h"
#include "plan/expand_softmax.h"
#include "plan/gathering.h"
#include "plan/inline_masked.h"
#include "plan/loop_order.h"
#include "plan/order_problem.h"
#include "plan/part_launches.h"
#include "plan/schedule_space.h"
#include "plan/split_merges.h"
#include "plan/wide_sums.h"
#include "schedule/fuse_launches.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Access;

namespace {

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
      written_schedule_ =
          s < request_.schedules.size() ? request_.schedules[s] : schedule::Schedule();
      written_tensor_ = statement.tensor;
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

  // The statement with its reductions written out, and before it what is computed on its own.
  void plan_parts(const expr::Statement& written, bool may_share, bool is_written) {
    const bool is_dense = !is_sparse(written.tensor);
    const auto sparse = [&](const std::string& tensor) { return is_sparse(tensor); };
    const expr::Statement statement = expand_reductions(written, sparse, is_dense);
    const auto name = [&](const expr::Statement& part) {
      return add_intermediate(statement, part);
    };
    const bool keeps = gathering_of(statement, tensors_) == Gathering::Tuple;
    const auto unbounded = [&](const std::string& tensor) { return tensors_.at(tensor).unbounded; };
    const ArrangedStatement arranged = arrange_sums(statement, sparse, unbounded, name, keeps);
    auto plan_split = [&](const expr::Statement& wide, bool shares) {
      const SplitStatement split = split_merges(wide, sparse, name);
      for (const expr::Statement& part : split.before) plan_statement(part, false, true);
      plan_statement(split.statement, shares, true, is_written && &wide == &arranged.statement);
    };
    for (const expr::Statement& part : arranged.before) plan_split(part, false);
    plan_split(arranged.statement, may_share);
  }

  // Whether it matters that a part of the expression may be absent rather than 0.
  bool asks_for_absence(const expr::Expr& expr) const {
    return may_be_infinite(expr) || expr::any_part(expr, [](const expr::Expr& part) {
             const auto* binary = part.as<expr::Binary>();
             const auto* unary = part.as<expr::Unary>();
             return (binary && binary->op == expr::BinaryOp::Within) ||
                    (unary && unary->function == expr::ElementFunction::Ones) ||
                    part.as<expr::Softmax>();
           });
  }

  bool may_be_infinite(const expr::Expr& expr) const {
    return expr::may_be_infinite(
        expr, [&](const std::string& tensor) { return tensors_.at(tensor).unbounded; });
  }

  // A name and a type for a part of the statement that is computed on its own.
  std::string add_intermediate(const expr::Statement& statement, const expr::Statement& part) {
    const std::string name = concat(statement.tensor, "_part", plan_.temporaries.size());
    const expr::TensorType& result = tensors_.at(statement.tensor);
    expr::TensorType type{part.value.type(), result.index_type, expr::result_format(part, tensors_),
                          may_be_infinite(part.value)};
    const expr::Expr rest = expr::without(part.value, [&](const Access& access) {
      return !tensors_.at(access.tensor).format.is_dense();
    });
    // Where it matters whether anything was summed, the intermediate says so by what it stores: no
    // padding, and zeros that are values.
    const bool asks = !result.format.is_dense() || asks_for_absence(statement.value);
    const int rank = static_cast<int>(part.indices.size());
    if (asks && rank > 0 && expr::is_absent(rest) && expr::stores_padding(type.format)) {
      type.format = Format::csf(rank);
    } else if (asks && expr::is_zero(rest) && !expr::is_absent(rest)) {
      type.format = Format::dense(rank);
    }
    note(concat(name, " = ", expr::to_string(part.value), " is computed first, as ",
                type.format.name()));
    tensors_[name] = type;
    plan_.temporaries[name] = type;
    return name;
  }

  OrderProblem make_problem(const expr::Statement& statement, bool may_share, bool may_convert,
                            Division division) {
    OrderProblem problem = make_order_problem(statement, tensors_, estimates_, division);
    problem.may_convert = may_convert;
    problem.assembles_blocks = request_.machine.kind == Machine::Kind::Cpu;
    problem.threads = request_.machine.threads;
    for (const auto& [operand, statistics] : request_.statistics) {
      problem.distinct_shares[operand] = statistics.distinct_share;
    }
    if (may_share) problem.shareable = {program_.operands.begin(), program_.operands.end()};
    problem.is_part = is_part(statement);
    return problem;
  }

  struct Loops {
    OrderProblem problem;
    OrderChoice choice;
  };

  // The loops that operands ask for as they are stored, or one for each index where that is
  // cheaper, with all that it takes to convert operands. A schedule that a caller wrote speaks of
  // the former, in an order that follows from the formats whatever the operands hold.
  Loops choose_loops(const expr::Statement& statement, bool may_share, bool may_convert,
                     const std::optional<Decision>& decision, bool is_scheduled) {
    const auto choose = [&](OrderProblem problem) {
      OrderChoice choice = decision       ? decided_order(problem, *decision)
                           : is_scheduled ? evaluate_order(problem, order_by_formats(problem))
                                          : choose_order(problem);
      plan_.orders_tried += choice.tried;
      return Loops{std::move(problem), std::move(choice)};
    };
    OrderProblem stored = make_problem(statement, may_share, may_convert, Division::AsStored);
    stored.keeps_storage = is_scheduled;
    if (!may_convert || is_scheduled || stored.space.is_whole()) return choose(std::move(stored));
    OrderProblem whole = make_problem(statement, may_share, may_convert, Division::None);
    if (decision) {
      const bool divides = !why_not(whole, decision->order).empty();
      return choose(divides ? std::move(stored) : std::move(whole));
    }
    Loops divided = choose(std::move(stored)), undivided = choose(std::move(whole));
    return undivided.choice.cost < divided.choice.cost ? std::move(undivided) : std::move(divided);
  }

  // The order of loops that is best for operands of middling sizes.
  std::vector<std::string> order_by_formats(OrderProblem problem) const {
    Estimates guesses;
    problem.distinct_shares.clear();
    problem.threads = 1;
    estimate_sizes(problem, guesses);
    return choose_order(problem).order;
  }

  // Whether it is one of several statements that add to a tensor.
  bool is_part(const expr::Statement& statement) const {
    return !statement.adds_to.empty() ||
           std::any_of(
               program_.statements.begin(), program_.statements.end(),
               [&](const expr::Statement& other) { return other.adds_to == statement.tensor; });
  }

  // `is_written` says that a caller wrote it, so that a caller's schedule is meant for it.
  void plan_statement(const expr::Statement& original, bool may_share, bool may_convert,
                      bool is_written = false) {
    expr::Statement statement = original;
    // Rewrites put copies of accesses next to each other that are one.
    statement.value = expr::with_shared_numbers(original.value);
    const std::optional<Decision> decision = decisions_.take(statement.tensor);
    const bool is_scheduled = is_written && !decision && !finishes_nothing(written_schedule_);
    auto [problem, choice] =
        choose_loops(statement, may_share, may_convert, decision, is_scheduled);
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

  // Where the schedule of a nest comes from: a caller's where a caller wrote the statement, one
  // that was decided, or neither, and it is chosen.
  struct Origin {
    bool is_written = false;
    std::optional<schedule::Schedule> decided = {};
  };

  static OrderChoice decided_order(const OrderProblem& problem, const Decision& decision) {
    const std::string reason = why_not(problem, decision.order);
    if (reason.empty()) return evaluate_order(problem, decision.order);
    fail_at(decision.place, concat("the loops of '", problem.statement->tensor, "' ", reason));
  }

  void emit(const OrderProblem& problem, const OrderChoice& choice, const Origin& origin) {
    const expr::Statement& statement = *problem.statement;
    const expr::TensorType& type = tensors_.at(statement.tensor);
    plan_.lines.push_back(concat(loops_line(statement.tensor, choice.order), "  # result ",
                                 text_of(choice.route), "; estimated cost ", choice.cost));
    if (choice.route == Route::Shared) plan_.shared_patterns[statement.tensor] = choice.shared;
    if (choice.route == Route::Sort) return build_sorted(problem, choice, origin);
    push_nest(problem, choice, build_nest(problem, choice, known_, type), origin);
  }

  // Entries in any order under a name of their own, sorted, then written in the order wanted.
  void build_sorted(const OrderProblem& problem, const OrderChoice& choice, const Origin& origin) {
    const expr::Statement& statement = *problem.statement;
    const expr::TensorType type = tensors_.at(statement.tensor);
    const std::string entries = statement.tensor + "_entries",
                      sorted = statement.tensor + "_sorted";
    expr::TensorType loose = type;
    loose.format = coordinates_of(type.format, false);
    // Equal coordinates are added up after sorting, and rounded then.
    if (statement.value.as<expr::Reduce>()) loose.type = compute_type(type.type);
    expr::Statement collect = statement;
    collect.tensor = entries;
    tensors_[entries] = loose;
    plan_.temporaries[entries] = loose;
    OrderProblem collecting = problem;
    collecting.statement = &collect;
    push_nest(collecting, choice, build_nest(collecting, choice, known_, loose), origin);

    expr::TensorType ordered = loose;
    ordered.format = coordinates_of(type.format, true);
    tensors_[sorted] = ordered;
    plan_.temporaries[sorted] = ordered;
    plan_.steps.push_back(SortEntries{entries, sorted, ordered});
    note(concat(entries, " are sorted into ", sorted));
    const expr::Statement copy{statement.tensor, statement.indices,
                               Access::make(0, sorted, statement.indices, ordered.type)};
    plan_statement(copy, false, false);
  }

  void push_nest(const OrderProblem& problem, const OrderChoice& choice, nest::Nest nest,
                 const Origin& origin) {
    const bool is_written = origin.is_written;
    schedule::Schedule schedule = written_schedule_;
    bool chooses_launch = false;
    if (origin.decided) {
      schedule = *origin.decided;
    } else if (!is_written || finishes_nothing(schedule)) {
      const schedule::Schedule written = is_written ? schedule : schedule::Schedule();
      schedule = schedule::parse_schedule(choose_schedule(problem, choice, nest, request_.machine));
      schedule.steps.insert(schedule.steps.end(), written.steps.begin(), written.steps.end());
      chooses_launch = problem.is_part && written.steps.empty();
    }
    if (chooses_launch) {
      launches_.add(*problem.statement, nest, schedule);
    } else {
      launches_.end();
    }
    plan_.lines.push_back(schedule_line(schedule));
    if (rounds_sums(nest, problem.statement->tensor, schedule))
      return compute_wide(problem, is_written);
    if (is_written && request_.with_spaces) add_space(problem, choice, nest);
    plan_.steps.push_back(PlannedNest{std::move(nest), std::move(schedule)});
  }

  // Whether the steps, if there are any, say only how kernels are launched.
  static bool finishes_nothing(const schedule::Schedule& schedule) {
    return std::all_of(schedule.steps.begin(), schedule.steps.end(), schedule::is_about_launches);
  }

  // What could be tried for the nest, or the estimate for the schedule that it has.
  void add_space(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest) {
    ScheduleSpace space{written_tensor_, {}};
    if (written_schedule_.steps.empty()) {
      space.candidates = schedule_space(problem, choice, nest, request_.machine);
    } else {
      space.candidates.push_back(
          {schedule::to_string(written_schedule_),
           estimate_schedule(problem, nest, request_.machine, written_schedule_)});
    }
    // A caller knows nothing of the name that a result has while it is accumulated.
    const std::string& tensor = problem.statement->tensor;
    for (ScheduledCandidate& candidate : space.candidates) {
      if (tensor != wide_name(written_tensor_)) break;
      const schedule::Schedule steps = schedule::parse_schedule(candidate.schedule);
      candidate.schedule = schedule::to_string(with_renamed(steps, tensor, written_tensor_));
    }
    plan_.spaces.push_back(std::move(space));
  }

  static std::string wide_name(const std::string& result) { return result + "_wide"; }

  // The result in f32 under a name of its own, then a copy that rounds it.
  void compute_wide(const OrderProblem& problem, bool is_written) {
    const expr::Statement& statement = *problem.statement;
    expr::Statement wide = statement;
    wide.tensor = wide_name(statement.tensor);
    expr::TensorType type = tensors_.at(statement.tensor);
    type.type = compute_type(type.type);
    tensors_[wide.tensor] = type;
    plan_.temporaries[wide.tensor] = type;
    note(concat(statement.tensor, " is accumulated in ", name_of(type.type), " first, as ",
                wide.tensor));
    plan_.shared_patterns.erase(statement.tensor);
    written_schedule_ = with_renamed(written_schedule_, statement.tensor, wide.tensor);
    plan_statement(wide, false, problem.may_convert, is_written);
    const expr::Statement copy{statement.tensor, statement.indices,
                               Access::make(0, wide.tensor, statement.indices, type.type)};
    plan_statement(copy, false, false);
  }

  // The operand in an order that the loops can walk over; a first level with few gaps is cheaper
  // dense.
  Format format_for(const Access& access, const std::vector<std::string>& order,
                    const LoopSpace& space) {
    const double count = estimates_.count(access.tensor, access.indices);
    return format_in_order(
        access, tensors_.at(access.tensor).format, order, space,
        [&](const std::string& index) { return estimates_.extent(index) <= 4 * count; });
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
    tensors_[name] = type;
    plan_.temporaries[name] = type;
    estimates_.set_count(name, estimates_.count(access.tensor, access.indices));
    note(concat(access.tensor, " is converted to ", format.name(), " (general path)"));
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
  schedule::Schedule written_schedule_;  // of the statement at hand
  std::string written_tensor_;           // which it assigns
  PartLaunches launches_{request_.machine};
  Plan plan_;
};

}  // namespace

Plan make_plan(const Request& request) { return Planner(request).run(); }

std::vector<std::string> specialisable_indices(const expr::ResolvedProgram& program) {
  std::vector<std::string> found;
  for (const expr::Statement& statement : program.statements) {
    for (const Access* access : expr::accesses(statement.value)) {
      const auto type = program.tensors.find(access->tensor);
      if (type == program.tensors.end() || !type->second.format.is_dense() ||
          access->indices.empty())
        continue;
      const std::string& last = access->indices.back();
      if (std::find(found.begin(), found.end(), last) == found.end()) found.push_back(last);
    }
  }
  return found;
}

}  // namespace tulle::plan
