// Finds the loops, cuts their bodies where the sum stands, and writes the exchange of partial sums.
#include "passes/scatter_sums.h"

#include <algorithm>
#include <optional>
#include <set>

#include "loop/gpu.h"
#include "loop/rewrite.h"
#include "passes/combine.h"
#include "passes/names.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

std::set<std::string> names_read_in(const Stmt& stmt) {
  std::set<std::string> names;
  visit(
      stmt, [](const Stmt&) {},
      [&](const Expr& expr) {
        if (const auto* var = expr.as<Var>()) names.insert(var->name);
      });
  return names;
}

// The iteration of a loop: what comes to a partial sum, the sum over the lanes, and what one lane
// does with it.
struct Iteration {
  std::vector<Stmt> before, after;
  std::string sum;
  const LaneReduce* reduce = nullptr;

  static std::optional<Iteration> of(const For& loop) {
    Iteration found;
    int lane_operations = 0;
    visit(
        loop.body, [](const Stmt&) {},
        [&](const Expr& expr) {
          lane_operations += expr.as<LaneReduce>() || expr.as<LaneShuffle>() ? 1 : 0;
        });
    if (lane_operations != 1) return std::nullopt;
    for (const Stmt& stmt : statements_of(loop.body)) {
      const auto* let = stmt.as<Let>();
      if (let && let->value.as<LaneReduce>()) {
        found.reduce = let->value.as<LaneReduce>();
        found.sum = let->name;
      } else {
        (found.reduce ? found.after : found.before).push_back(stmt);
      }
    }
    return found.reduce ? std::optional(found) : std::nullopt;
  }
};

// What one lane of a group of `width` does alone, taken out of its condition; notes whether
// anything that others see happens outside of it.
class OneLane : public Rewriter {
 public:
  OneLane(const std::string& lane, int width) : lane_(lane), width_(width) {}

  bool is_all() const { return found_ && !others_; }

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const auto* test = stmt.as<If>();
    if (test && !test->no && is_first_lane(test->condition)) {
      found_ = true;
      return test->yes;
    }
    others_ |= stmt->kind == StmtKind::Store || stmt->kind == StmtKind::Atomic ||
               stmt->kind == StmtKind::Barrier || stmt->kind == StmtKind::Invoke ||
               stmt->kind == StmtKind::For || stmt->kind == StmtKind::While;
    return Rewriter::rewrite(stmt);
  }

 private:
  bool is_first_lane(const Expr& condition) const {
    const auto* equal = condition.as<Binary>();
    if (!equal || equal->op != BinaryOp::Eq || !is_constant(equal->b, 0)) return false;
    const auto* number = equal->a.as<Binary>();
    const auto* var = number && number->op == BinaryOp::Mod ? number->a.as<Var>() : nullptr;
    return var && var->name == lane_ && is_constant(number->b, width_);
  }

  const std::string& lane_;
  int width_;
  bool found_ = false, others_ = false;
};

// The declarations among the statements that give the names their values, where nothing else does.
std::optional<std::vector<Stmt>> declarations_of(std::set<std::string> names,
                                                 const std::vector<Stmt>& stmts) {
  std::vector<Stmt> found;
  for (size_t at = stmts.size(); at-- > 0;) {
    const Stmt& stmt = stmts[at];
    const auto* let = stmt.as<Let>();
    const auto* declare = stmt.as<Declare>();
    const std::string& name = let ? let->name : declare ? declare->name : std::string();
    if (names.contains(name)) {
      found.insert(found.begin(), stmt);
      names.merge(names_read(let ? let->value : declare->init));
    } else {
      const std::set<std::string> written = names_written(stmt);
      if (std::any_of(written.begin(), written.end(),
                      [&](const std::string& one) { return names.contains(one); }))
        return std::nullopt;
    }
  }
  return found;
}

bool reads_locals(const std::vector<Stmt>& stmts) {
  bool reads = false;
  for (const Stmt& stmt : stmts) {
    visit(
        stmt, [](const Stmt&) {},
        [&](const Expr& expr) {
          const auto* load = expr.as<Load>();
          reads |= load && load->buffer->space == Space::Local;
        });
  }
  return reads;
}

class Scatterer : public Rewriter {
 public:
  explicit Scatterer(const Kernel& kernel) : names_(kernel) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<For>();
    if (!loop) return Rewriter::rewrite(stmt);
    if (loop->loop == LoopKind::Lane && constant_extent(*loop) == kWarpSize &&
        is_constant(loop->begin, 0)) {
      lane_ = loop->var;
      const Stmt result = Rewriter::rewrite(stmt);
      lane_.clear();
      return result;
    }
    if (loop->loop == LoopKind::Unrolled && !lane_.empty()) {
      if (const Stmt result = scattered(*loop)) return result;
    }
    return Rewriter::rewrite(stmt);
  }

 private:
  // Null where the loop is another.
  Stmt scattered(const For& loop) {
    const auto iteration = Iteration::of(loop);
    const auto trips = constant_extent(loop);
    if (!iteration || !trips) return {};
    const int width = iteration->reduce->width;
    const bool writes_out_groups = loop.factor == 0 || loop.factor % width == 0;
    if (width < 2 || *trips % width != 0 || !writes_out_groups) return {};

    OneLane one(lane_, width);
    std::vector<Stmt> after;
    std::set<std::string> wanted;
    for (const Stmt& stmt : iteration->after) {
      after.push_back(one.rewrite(stmt));
      wanted.merge(names_read_in(stmt));
      wanted.merge(names_written(stmt));
    }
    const auto declarations = declarations_of(std::move(wanted), iteration->before);
    if (!one.is_all() || !declarations || reads_locals(after)) return {};

    const std::string group = names_.fresh(loop.var + "_group");
    const Expr first = loop.begin + Var::make(group) * (width * loop.step);
    const Stmt body = group_of(loop, *iteration, first, *declarations, after);
    return For::make(group, IntConst::make(0), IntConst::make(*trips / width), body,
                     LoopKind::Unrolled, 1);
  }

  // The iterations from `first` on, as many as the group has lanes.
  Stmt group_of(const For& loop, const Iteration& iteration, const Expr& first,
                const std::vector<Stmt>& declarations, const std::vector<Stmt>& after) {
    const LaneReduce& reduce = *iteration.reduce;
    const Buffer parts =
        make_buffer(names_.fresh(iteration.sum + "_parts"), reduce.type.scalar, Space::Local);
    const std::string number = names_.fresh(loop.var + "_number");
    std::vector<Stmt> each = {Let::make(loop.var, first + Var::make(number) * loop.step)};
    each.insert(each.end(), iteration.before.begin(), iteration.before.end());
    each.push_back(Store::make(parts, Var::make(number), reduce.value));

    const Expr own = Binary::make(BinaryOp::Mod, Var::make(lane_), IntConst::make(reduce.width));
    std::vector<Stmt> mine = {Let::make(loop.var, first + own * loop.step)};
    mine.insert(mine.end(), declarations.begin(), declarations.end());
    mine.push_back(Let::make(iteration.sum, Load::make(parts, IntConst::make(0))));
    mine.insert(mine.end(), after.begin(), after.end());

    std::vector<Stmt> stmts = {Allocate::make(parts, IntConst::make(reduce.width), false),
                               For::make(number, IntConst::make(0), IntConst::make(reduce.width),
                                         Block::make(std::move(each)), LoopKind::Unrolled, 0)};
    for (int distance = reduce.width / 2; distance >= 1; distance /= 2)
      exchange(parts, reduce, distance, stmts);
    stmts.push_back(Block::make(std::move(mine)));
    return Block::make(std::move(stmts));
  }

  // A lane keeps the upper half of its sums where its number has that bit, the lower half where it
  // has not, and adds what the lane at this distance has of them.
  void exchange(const Buffer& parts, const LaneReduce& reduce, int distance,
                std::vector<Stmt>& stmts) {
    const std::string name = names_.fresh("is_upper");
    const Expr upper = Var::make(name, kBool);
    const Expr bit = Binary::make(BinaryOp::BitAnd, Var::make(lane_), IntConst::make(distance));
    stmts.push_back(Let::make(name, bit != IntConst::make(0)));
    for (int at = 0; at < distance; ++at) {
      const Expr low = Load::make(parts, IntConst::make(at)),
                 high = Load::make(parts, IntConst::make(at + distance));
      const std::string kept = names_.fresh("kept"), given = names_.fresh("given");
      const bool mixes = mutant("scattered-sums-mixed") && distance == 1;
      stmts.push_back(Let::make(kept, Select::make(upper, high, low)));
      stmts.push_back(Let::make(given, Select::make(upper, low, mixes ? low : high)));
      const std::string other =
          names_.fresh("other");  // all lanes come by, also where `or` is lazy
      stmts.push_back(Let::make(
          other, LaneShuffle::make(ShuffleMode::Xor, Var::make(given, reduce.type),
                                   IntConst::make(distance, {DType::Int32, 1}), reduce.width)));
      stmts.push_back(Store::make(parts, IntConst::make(at),
                                  Binary::make(binary_of(reduce.op), Var::make(kept, reduce.type),
                                               Var::make(other, reduce.type))));
    }
  }

  Names names_;
  std::string lane_;  // the variable of the loop over lanes around; empty outside
};

}  // namespace

Kernel scatter_sums(Kernel kernel) {
  kernel.body = Scatterer(kernel).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
