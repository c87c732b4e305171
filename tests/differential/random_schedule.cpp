// Draws random schedules step by step. Each step fits the nest after the steps before it.
#include <algorithm>

#include "differential/prepared.h"
#include "differential/random_case.h"
#include "differential/recut_loops.h"
#include "differential/scheduled_statements.h"
#include "differential/step_taker.h"
#include "nest/bound_loops.h"
#include "nest/row_pieces.h"
#include "schedule/queries.h"
#include "schedule/schedule.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::differential {

namespace {

// Draws steps for one statement.
class Scheduler : private StepTaker {
 public:
  using StepTaker::StepTaker;

  void run() {
    const size_t wanted = 1 + dice_.below(gpu_ ? 8 : 5);
    if (dice_.chance(0.25)) take_sums_of_rows();
    if (gpu_ && taken() == 0) {
      if (dice_.chance(gathers_tuples() ? 0.1 : 0.2)) {
        take_late_binds();
      } else if (dice_.chance(0.7)) {
        take_partial_sums();
      }
    }
    if (!gpu_ && taken() == 0 && dice_.chance(0.15)) {
      std::vector<std::string> order = loops();
      dice_.shuffle(order);
      take(concat("reorder(", schedule::list_of(order), ")"));
      if (!order.empty()) take(concat("parallel(", order.front(), ")"));
    }
    for (size_t tries = 0; tries < 4 * wanted && taken() < wanted; ++tries) take(draw());
    for (int tries = 0; tries < 4 && dice_.chance(0.7); ++tries) take(draw_stage());
    // A refused step tests the refusal.
    if (dice_.chance(0.05)) add(draw());
  }

  // Chunks with equal numbers of entries, and loops bound over them. Few nests accept these.
  void take_entries() {
    const std::vector<std::string> vars = loops();
    for (size_t v = 0; v + 1 < vars.size() && taken() == 0; ++v) {
      take(concat("split_entries(", vars[v], ", ", vars[v + 1], ", ", dice_.pick<int>({1, 3, 8}),
                  ", ec, ee)"));
    }
    if (taken() == 0) return;
    take(concat("bind(ec, block", is_summed("ec") ? ", sums=atomics)" : ")"));
    if (dice_.chance(0.5)) take(dice_.chance(0.5) ? "bind(ee, thread)" : "bind(ee, lane)");
  }

  // Whether the result is sparse, has its own pattern, and has blocks.
  bool builds_blocks() const {
    const nest::Tensor& result = nest().tensor(tensors(nest::Tensor::Role::Result).front());
    const Format& format = result.type.format;
    return !format.is_dense() && result.shares_pattern_of.empty() &&
           is_full(format.levels().back().kind);
  }

  // Chunks whose members share the blocks of a sparse result. Few nests accept these.
  void take_members() {
    if (loops().empty()) return;
    if (dice_.chance(0.3)) {
      std::vector<std::string> order = loops();
      dice_.shuffle(order);
      take(concat("reorder(", schedule::list_of(order), ")"));
    }
    take_gathered_blocks();
    if (dice_.chance(0.6)) {
      take(concat("parallel(", loops().front(),
                  ", by=", dice_.pick<std::string>({"rows", "nnz", "merge"}), ")"));
    }
    std::vector<std::string> vars = loops();
    dice_.shuffle(vars);
    for (const std::string& var : vars) {
      if (dice_.chance(0.8)) take(concat("bind(", var, ", member)"));
    }
    if (dice_.chance(0.05)) {
      const std::string sums = dice_.chance(0.3) ? ", sums=atomics" : "";
      add(concat("bind(", dice_.pick(vars), ", member", sums, ")"));
    }
  }

 private:
  std::string draw() {
    std::vector<std::string> vars = loops();
    if (vars.empty()) return "precompute(acc)";
    const std::string var = dice_.pick(vars);
    const std::string fresh = concat("v", fresh_++);
    if (gpu_ && dice_.chance(0.35)) return draw_bind(vars);
    switch (dice_.below(15)) {
      case 0:
        return concat("split(", var, ", ", dice_.between(2, 5), ", ", fresh, "o, ", fresh, "i)");
      case 1:
      case 2: {
        dice_.shuffle(vars);
        return concat("reorder(", schedule::list_of(vars), ")");
      }
      case 3: {
        size_t at = dice_.below(vars.size());
        for (size_t v = 0; v + 1 < vars.size(); ++v) {
          if (are_halves(vars[v], vars[v + 1])) at = v;
        }
        return concat("fuse(", vars[at], ", ", vars[(at + 1) % vars.size()], ", ", fresh, ")");
      }
      case 4:
        return draw_precompute(vars, fresh);
      case 5:
        return concat("precompute(", fresh, ", ", var, ", ", draw_tracking(), ")");
      case 6:
        if (dice_.chance(0.4)) take_merged_rows();
        return concat("parallel(", vars.front(),
                      ", by=", dice_.pick<std::string>({"rows", "nnz", "merge"}), ")");
      case 7:
        return concat("vectorize(", vars.back(), ", ", dice_.pick<int>({2, 4, 8, 16}), ")");
      case 13:
        return draw_stage();
      case 12:
        return concat("split_entries(", var, ", ", dice_.pick(vars), ", ",
                      dice_.pick<int>({1, 2, 4, 9}), ", ", fresh, "o, ", fresh, "i)");
      case 11:
        if (dice_.chance(0.4))
          return concat("deal_rows(", var, deal(), ", ", fresh, "o, ", fresh, "i", turns());
        return concat("split_rows(", var, ", ", dice_.pick<int>({1, 2, 3, 5, 9}), ", ", fresh,
                      "o, ", fresh, "i)");
      case 10:
        if (dice_.chance(0.3)) return concat("number_rows(", vars.front(), ", ", fresh, ")");
        return concat("split_positions(", var, ", ", dice_.pick<int>({1, 2, 3, 4, 8}), ", ", fresh,
                      "o, ", fresh, "i)");
      case 9:
        return concat("rfactor(", var, ", ", fresh, ")");
      case 8:
        return concat("unroll(", var, ", ", dice_.pick<int>({0, 2, 3, 4}), ")");
      default: {
        const auto operands = tensors(nest::Tensor::Role::Operand);
        if (operands.empty() || dice_.chance(0.3))
          return concat("nontemporal(", tensors(nest::Tensor::Role::Result).front(), ")");
        return concat("prefetch(", dice_.pick(operands), ", ", dice_.between(1, 9), ")");
      }
    }
  }

  // Binds loops only after partial sums and copies of copies.
  void take_late_binds() {
    if (loops().empty()) return;
    const std::string sum = loops().back();
    if (is_summed(sum) && dice_.chance(0.5)) {
      take(concat("rfactor(", sum, ", v", fresh_++, ")"));
      take(concat("split(", sum, ", ", dice_.pick<int>({2, 4}), ", lo, li)"));
    }
    take(concat("bind(", loops().front(), ", block)"));
    const auto operands = staged_operands();
    if (!operands.empty()) {
      const std::string operand = dice_.pick(operands);
      const std::vector<std::string> vars = loops();
      const std::string at = vars[dice_.below(std::max<size_t>(1, vars.size() - 1))];
      take(concat("stage(", operand, ", ", at, ", shared)"));
      take(concat("stage(", operand, ", ", dice_.chance(0.7) ? at : dice_.pick(vars), ", ",
                  dice_.chance(0.7) ? "registers" : "shared", ")"));
    }
    std::vector<std::string> vars = loops();
    if (dice_.chance(0.5)) std::reverse(vars.begin(), vars.end());
    for (const std::string& var : vars) {
      if (dice_.chance(0.7))
        take(concat("bind(", var, ", ", dice_.pick<std::string>({"warp", "lane", "thread"}), ")"));
    }
  }

  // Operands for stage steps, usually dense ones.
  std::vector<std::string> staged_operands() {
    std::vector<std::string> operands;
    for (const std::string& name : tensors(nest::Tensor::Role::Operand)) {
      if (nest().tensor(name).type.format.is_dense() || dice_.chance(0.1)) operands.push_back(name);
    }
    return operands;
  }

  // A stage step for an operand that some loop reads.
  std::string draw_stage() {
    const std::vector<std::string> operands = staged_operands(), vars = loops();
    if (operands.empty() || vars.empty()) return "precompute(acc)";
    const bool shared = nest::has_bound_loops(nest().root) ? dice_.chance(0.6) : dice_.chance(0.05);
    const int depth = dice_.pick<int>({1, 2, 2, 3});
    return concat("stage(", dice_.pick(operands), ", ", dice_.pick(vars), ", ",
                  shared ? "shared" : "registers",
                  depth > 1 || dice_.chance(0.2) ? concat(", ", depth) : "", ")");
  }

  // Gathers blocks in a tracked workspace, with the variable of the result's stored coordinates
  // first.
  void take_gathered_blocks() {
    std::vector<std::string> over;
    bool inside = false;
    for (const std::string& var : loops()) {
      inside = inside || is_summed(var);
      if (inside && !is_summed(var)) over.push_back(var);
    }
    const nest::Assign& target = *schedule::lasting_assigns(nest().root).front();
    std::stable_partition(over.begin(), over.end(), [&](const std::string& var) {
      return schedule::stores_sparsely(nest(), target.tensor, target.indices, var);
    });
    if (!over.empty())
      take(concat("precompute(v", fresh_++, ", (", schedule::list_of(over), "), ", draw_tracking(),
                  ")"));
  }

  std::string draw_tracking() { return dice_.pick<std::string>({"tracked", "scanned"}); }

  // Gathers the sums of rows, so that chunks can cut rows anywhere.
  void take_merged_rows() {
    take(concat("precompute(v", fresh_++, ")"));
    take(concat("parallel(", loops().front(), ", by=merge)"));
  }

  // The numbers of a deal_rows step.
  std::string deal() { return concat(", ", dice_.pick<int>({1, 2, 3, 9})); }
  std::string turns() {
    return concat(", ", dice_.pick<int>({1, 2, 3, 7}), ", ", dice_.pick<int>({1, 2, 3}), ")");
  }

  // The steps that distribute a sum over the threads of a block, as far as the nest accepts them.
  // Independent draws would rarely give this order.
  void take_partial_sums() {
    std::vector<std::string> rows, sums;
    for (const std::string& var : loops()) (is_summed(var) ? sums : rows).push_back(var);
    if (rows.empty() || sums.empty()) return;
    dice_.shuffle(rows);
    dice_.shuffle(sums);
    std::vector<std::string> order = rows;
    order.insert(order.end(), sums.begin(), sums.end());
    if (dice_.chance(0.7)) take(concat("reorder(", schedule::list_of(order), ")"));
    if (dice_.chance(0.5)) take(concat("number_rows(", loops().front(), ", nr)"));
    const bool tuples = gathers_tuples();
    // Warps and threads only merge tuples of whole rows.
    const bool across = tuples && dice_.chance(0.4);
    if (!across && dice_.chance(tuples ? 0.35 : 0.5))
      take(concat("deal_rows(", loops().front(), deal(), ", ch, cr", turns()));
    if (!across && dice_.chance(tuples ? 0.95 : 0.3)) {
      take(concat("split_rows(", loops().front(), ", ",
                  dice_.pick<int>({tuples ? 2 : 1, 3, tuples ? 5 : 9}), ", ch, cr)"));
    }
    if (dice_.chance(0.3) && loops().size() > 1) {
      take(concat("split_entries(", loops()[0], ", ", loops()[1], ", ", dice_.pick<int>({1, 3, 8}),
                  ", ec, ee)"));
      take("unroll(ee, 4)");
    }
    const std::string sum = sums.back(), row = loops().front();
    std::string inner;  // an unsummed loop other than the rows
    for (const std::string& var : loops()) {
      if (var != row && !is_summed(var)) inner = var;
    }
    // a thread has several sums, one for each of `inner`
    const bool many = !inner.empty() && dice_.chance(0.4);
    const bool by_lanes = !across && dice_.chance(many ? 0.5 : 0.7);
    const bool in_groups = by_lanes && dice_.chance(0.4);
    const int threads = many && by_lanes && !in_groups ? 32 : dice_.pick<int>({2, 4, 8});
    take(
        concat(dice_.chance(0.5) ? "split(" : "split_positions(", sum, ", ", threads, ", so, si)"));
    if (dice_.chance(0.5)) take("reorder(si, so)");
    if (many) take(concat("reorder(si, so, ", inner, ")"));
    if (dice_.chance(many ? 0.3 : 0.7)) take("precompute(sums)");
    take("rfactor(si, parts)");
    if (many) take(concat("reorder(si, ", inner, ")"));
    if (by_lanes) take(concat("split(", row, ", ", in_groups ? 4 : 2, ", ro, ri)"));
    if (in_groups) take("split(ri, 2, rw, rl)");
    take(concat("bind(", by_lanes ? "ro" : row, ", block)"));
    if (by_lanes) take(concat("bind(", in_groups ? "rw" : "ri", ", warp)"));
    if (in_groups) take("bind(rl, lane)");
    const bool by_warps = !by_lanes && dice_.chance(0.5);
    take(concat("bind(si, ", by_lanes ? "lane" : by_warps ? "warp" : "thread", ")"));
    if (many && by_warps && dice_.chance(0.5)) take(concat("bind(", inner, ", lane)"));
  }

  // Gathers the sums of all rows in a chunk. The loops add one term of each row in turn.
  void take_sums_of_rows() {
    const bool deals = dice_.chance(0.7);
    for (const std::string& var : loops()) {
      if (taken() > 0) break;
      take(deals ? concat("deal_rows(", var, deal(), ", ch, cr", turns())
                 : concat("split_rows(", var, ", ", dice_.pick<int>({1, 3, 9}), ", ch, cr)"));
    }
    if (taken() == 0) return;
    std::vector<std::string> over, sums;
    for (const std::string& var : loops()) {
      if (var != "ch") (is_summed(var) ? sums : over).push_back(var);
    }
    if (sums.empty()) return;
    const std::string sum = dice_.pick(sums);
    take(concat("reorder(", sum, ", cr)"));
    take(dice_.chance(0.5) ? concat("precompute(rows, (", schedule::list_of(over), "))")
                           : concat("rfactor(", sum, ", rows)"));
  }

  // Halves of a split that this schedule made. Fused, they are a loop over whole pieces again.
  static bool are_halves(const std::string& outer, const std::string& inner) {
    return outer.starts_with('v') && outer.ends_with('o') && inner.ends_with('i') &&
           outer.substr(0, outer.size() - 1) == inner.substr(0, inner.size() - 1);
  }

  bool gathers_tuples() const {
    const auto* rows = nest().root.as<nest::Forall>();
    return rows && nest::tuple_of_row(nest(), *rows);
  }

  // Binds the outermost loop to blocks first, then loops inside.
  std::string draw_bind(const std::vector<std::string>& vars) {
    if (!nest::has_bound_loops(nest().root)) {
      return concat("bind(", vars.front(), ", block",
                    is_summed(vars.front()) ? ", sums=atomics" : "", ")");
    }
    const std::string& var = dice_.pick(vars);
    return concat("bind(", var, ", ", dice_.pick<std::string>({"thread", "warp", "lane"}),
                  is_summed(var) && dice_.chance(0.5) ? ", sums=atomics" : "", ")");
  }
};

// The schedule with one step moved. A later step may make a nest legal again.
std::string with_step_moved(Dice& dice, const std::string& text) {
  std::vector<schedule::Step> steps = schedule::parse_schedule(text).steps;
  auto from = steps.begin() + static_cast<std::ptrdiff_t>(dice.below(steps.size()));
  const auto gathers = std::find_if(steps.begin(), steps.end(), [](const schedule::Step& step) {
    return std::holds_alternative<schedule::Precompute>(step.rewrite);
  });
  if (gathers != steps.end() && dice.chance(0.5)) from = gathers;
  const schedule::Step moved = *from;
  steps.erase(from);
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(dice.below(steps.size() + 1)), moved);
  std::string all;
  for (const schedule::Step& step : steps)
    all += (all.empty() ? "" : "; ") + schedule::to_string(step);
  return all;
}

// Whether the program is legal with the steps so far and this one, up to lowering.
bool is_taken(CompileRequest request, const ScheduledStatements& statements,
              const std::string& step) {
  request.schedule = statements.steps().empty() ? step : concat(statements.text(), "; ", step);
  try {
    lower_program(request);
    return true;
  } catch (const InternalError&) {
    return true;  // running the case will tell
  } catch (const Error&) {
    return false;
  }
}

// Launches kernels of several statements, possibly of parts, together.
void draw_launches(Dice& dice, const CompileRequest& request, ScheduledStatements& statements) {
  const std::vector<size_t>& numbers = statements.numbers();
  for (int tries = 0; tries < 3; ++tries) {
    const size_t at = 1 + dice.below(numbers.size() - 1);
    std::string step = concat("fuse_launches(", statements.tensor(numbers[at - 1]), ")");
    if (dice.chance(0.9)) step = concat(statements.tensor(numbers[at]), ": ", step);
    if (dice.chance(0.1) || is_taken(request, statements, step)) return statements.add(step);
  }
}

}  // namespace

std::string random_schedule(Dice& dice, const Case& test) {
  try {
    const Prepared ready(test);
    ScheduledStatements statements(ready.request);
    std::vector<size_t> chosen = statements.numbers();
    int fresh = 0;
    if (chosen.size() == 1) {
      // Separate dice, here and below, keep the later draws unchanged.
      Dice rare(~uint64_t{test.seed} + 4);
      if (test.gpu && rare.chance(0.1))
        Scheduler(rare, statements, chosen[0], test.gpu, fresh).take_entries();
      Dice members(~uint64_t{test.seed} + 5);
      if (Scheduler sharing(members, statements, chosen[0], test.gpu, fresh);
          test.gpu && members.chance(sharing.builds_blocks() ? 0.8 : 0.05))
        sharing.take_members();
      Dice recut(~uint64_t{test.seed} + 6);
      if (statements.text().empty() && recut.chance(0.35)) {
        take_recut_loops(recut, statements, chosen[0], test.gpu, fresh);
        return statements.text();
      }
      Scheduler(dice, statements, chosen[0], test.gpu, fresh).run();
      const bool shares = statements.text().find(", member") != std::string::npos;
      return shares && members.chance(0.4) ? with_step_moved(members, statements.text())
                                           : statements.text();
    }
    // For kernels with planned schedules.
    Dice planned(~uint64_t{test.seed} + 7);
    if (test.gpu && planned.chance(0.2)) draw_launches(planned, ready.request, statements);
    if (!statements.steps().empty()) return statements.text();
    Dice own(~uint64_t{test.seed} + 3);
    own.shuffle(chosen);
    chosen.resize(1 + own.below(std::min<size_t>(chosen.size(), 3)));
    for (const size_t statement : chosen)
      Scheduler(own, statements, statement, test.gpu, fresh).run();
    if (test.gpu && own.chance(0.5)) draw_launches(own, ready.request, statements);
    return statements.text();
  } catch (const InternalError& error) {
    if (!active_mutant().empty()) return {};  // running the case will tell
    throw InternalError(concat(error.what(), "\nwhile a schedule is drawn, seed ", test.seed));
  } catch (const Error&) {
    return {};  // running the case will tell
  }
}

}  // namespace tulle::differential
