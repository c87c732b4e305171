// Finds the loops, splits their bodies at the sum, and generates the exchange of partial sums.
#include "passes/scatter_sums.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "loop/fresh_names.h"
#include "loop/gpu.h"
#include "loop/rewrite.h"
#include "loop/used_names.h"
#include "passes/combine.h"
#include "passes/linear.h"
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

// The parts of a loop body: the computation of the partial sum, the sum over the lanes, and the use
// of the sum by one lane.
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

// Removes the condition from the code that one lane of a group of `width` lanes executes alone.
// Records whether there are visible effects outside of that code.
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

// The declarations among the statements that define the names. Nothing if other statements define
// any of them.
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

// Whether different lanes may use the sums of different iterations: they must store to different
// elements and leave no result in registers.
class StoresApart {
 public:
  StoresApart(const std::string& var, const std::vector<Stmt>& declarations,
              const std::vector<Stmt>& after)
      : var_(var) {
    for (const auto* stmts : {&declarations, &after}) {
      for (const Stmt& stmt : *stmts) {
        visit(
            stmt,
            [&](const Stmt& inner) {
              if (const auto* let = inner.as<Let>()) lets_.emplace_back(let->name, let->value);
              if (const auto* variable = inner.as<Declare>()) own_.insert(variable->name);
              if (const auto* assign = inner.as<Assign>()) assigned_.insert(assign->name);
              if (const auto* store = inner.as<Store>()) stores_.push_back(store);
            },
            [&](const Expr& expr) {
              if (const auto* load = expr.as<Load>()) read_.insert(load->buffer->name);
            });
      }
    }
  }

  bool are_all() const {
    return std::includes(own_.begin(), own_.end(), assigned_.begin(), assigned_.end()) &&
           std::all_of(stores_.begin(), stores_.end(), [&](const Store* store) {
             return store->buffer->space != Space::Local && is_apart(*store);
           });
  }

 private:
  bool is_apart(const Store& store) const {
    Expr index = store.index;
    for (size_t at = lets_.size(); at-- > 0;)
      index = substitute(index, lets_[at].first, lets_[at].second);
    const Linear form = linear_form(index);
    const bool steps = form.coefficient(var_) != 0;
    const bool follows = std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
      return !term.first.template as<Var>() && names_read(term.first).contains(var_);
    });
    if (steps && !follows) return true;
    // For example stored coordinates: each has a place of its own unless the kernel accumulates
    // there.
    return follows && !read_.contains(store.buffer->name);
  }

  const std::string& var_;
  std::vector<std::pair<std::string, Expr>> lets_;
  std::vector<const Store*> stores_;
  std::set<std::string> read_;  // buffers
  std::set<std::string> own_,
      assigned_;  // variables declared in an iteration, and variables assigned to
};

class Scatterer : public Rewriter {
 public:
  explicit Scatterer(const Kernel& kernel) : names_(kernel) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<For>();
    if (!loop) return Rewriter::rewrite(stmt);
    if (loop->loop == ForKind::Lane && constant_extent(*loop) == kWarpSize &&
        is_constant(loop->begin, 0)) {
      lane_ = loop->var;
      const Stmt result = Rewriter::rewrite(stmt);
      lane_.clear();
      return result;
    }
    if (loop->loop == ForKind::Unrolled && !lane_.empty()) {
      if (const Stmt result = scattered(*loop)) return result;
    }
    return Rewriter::rewrite(stmt);
  }

 private:
  // The parts of the code of a group of iterations.
  struct Sums {
    const For& loop;
    Iteration iteration;
    int count;                              // iterations in a group, at most one per lane
    std::vector<Stmt> declarations, after;  // the use of a sum by one lane

    int lanes_of_sum() const { return iteration.reduce->width / count; }  // after the exchange
    int64_t stride() const { return count * loop.step; }                  // of groups
  };

  // The number of iterations that are summed together: a power of two that divides the number of
  // copies.
  static int count_of(const For& loop, int width) {
    const auto trips = constant_extent(loop);
    if (loop.factor == 0 && !trips) return 1;
    const int64_t copies = loop.factor == 0 ? *trips : std::gcd(loop.factor, trips.value_or(0));
    return static_cast<int>(std::gcd(copies, int64_t{width}));
  }

  // Null if the loop has another form.
  Stmt scattered(const For& loop) {
    const auto iteration = Iteration::of(loop);
    if (!iteration) return {};
    const int width = iteration->reduce->width, count = count_of(loop, width);
    if (count < 2) return {};

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
    if (!StoresApart(loop.var, *declarations, after).are_all()) return {};
    const Sums sums{loop, *iteration, count, *declarations, std::move(after)};
    const auto trips = constant_extent(loop);
    return trips ? constant_groups(sums, *trips) : counted_groups(sums);
  }

  Stmt constant_groups(const Sums& sums, int64_t trips) {
    const std::string group = names_.fresh(sums.loop.var + "_group");
    const Expr first = sums.loop.begin + Var::make(group) * sums.stride();
    return For::make(group, IntConst::make(0), IntConst::make(trips / sums.count),
                     group_of(sums, first), ForKind::Unrolled, 1);
  }

  // Complete groups, followed by a partial one. All lanes of a group execute the same iterations.
  Stmt counted_groups(const Sums& sums) {
    const For& loop = sums.loop;
    const std::string name = names_.fresh(loop.var + "_next"),
                      end = names_.fresh(loop.var + "_end");
    const Expr next = Var::make(name), all = Var::make(end);
    const Expr last_begin = all - (sums.stride() - loop.step);  // of a complete group, at most
    const Stmt whole =
        Block::make({group_of(sums, next), Assign::make(name, next + sums.stride())});
    return Block::make({Let::make(end, loop.end), Declare::make(name, loop.begin),
                        While::make(next < last_begin, whole),
                        If::make(next < all, group_of(sums, next, all))});
  }

  // A group of iterations that starts at `first`. With `end`, only the iterations before `end`.
  Stmt group_of(const Sums& sums, const Expr& first, const Expr& end = {}) {
    const For& loop = sums.loop;
    const LaneReduce& reduce = *sums.iteration.reduce;
    const std::string last = names_.fresh(loop.var + "_last");
    const auto at = [&](const Expr& number) {  // past the end, repeats the last iteration
      const Expr place = first + number * loop.step;
      return end ? minimum(place, Var::make(last)) : place;
    };
    std::vector<Stmt> stmts;
    if (end) {
      const Expr others = Binary::make(BinaryOp::Div, end - first - 1, IntConst::make(loop.step));
      stmts.push_back(Let::make(last, first + others * loop.step));
    }
    const Buffer parts =
        make_buffer(names_.fresh(sums.iteration.sum + "_parts"), reduce.type.scalar, Space::Local);
    const std::string number = names_.fresh(loop.var + "_number");
    std::vector<Stmt> each = {Let::make(loop.var, at(Var::make(number)))};
    each.insert(each.end(), sums.iteration.before.begin(), sums.iteration.before.end());
    each.push_back(Store::make(parts, Var::make(number), reduce.value));
    stmts.push_back(Allocate::make(parts, IntConst::make(sums.count), false));
    stmts.push_back(For::make(number, IntConst::make(0), IntConst::make(sums.count),
                              Block::make(std::move(each)), ForKind::Unrolled, 0));
    int distance = reduce.width / 2;
    for (int half = sums.count / 2; half >= 1; half /= 2, distance /= 2)
      exchange(parts, reduce, half, distance, stmts);
    if (distance >= 1) add_up(parts, reduce, sums.lanes_of_sum(), stmts);

    const Expr in_group =
        Binary::make(BinaryOp::Mod, Var::make(lane_), IntConst::make(reduce.width));
    const Expr own = Binary::make(BinaryOp::Div, in_group, IntConst::make(sums.lanes_of_sum()));
    std::vector<Stmt> mine = {Let::make(loop.var, at(own))};
    mine.insert(mine.end(), sums.declarations.begin(), sums.declarations.end());
    mine.push_back(Let::make(sums.iteration.sum, Load::make(parts, IntConst::make(0))));
    mine.insert(mine.end(), sums.after.begin(), sums.after.end());
    Stmt last_step = Block::make(std::move(mine));
    if (sums.lanes_of_sum() > 1) {
      const Expr one_of =
          Binary::make(BinaryOp::Mod, Var::make(lane_), IntConst::make(sums.lanes_of_sum()));
      last_step = If::make(one_of == IntConst::make(0), last_step);
    }
    stmts.push_back(end ? If::make(first + own * loop.step < end, last_step) : last_step);
    return Block::make(std::move(stmts));
  }

  // A lane whose index has the bit of this distance keeps the upper half of its sums, any other
  // lane the lower half. Each lane adds the other lane's part of its half.
  void exchange(const Buffer& parts, const LaneReduce& reduce, int half, int distance,
                std::vector<Stmt>& stmts) {
    const std::string name = names_.fresh("is_upper");
    const Expr upper = Var::make(name, kBool);
    const Expr bit = Binary::make(BinaryOp::BitAnd, Var::make(lane_), IntConst::make(distance));
    stmts.push_back(Let::make(name, bit != IntConst::make(0)));
    for (int at = 0; at < half; ++at) {
      const Expr low = Load::make(parts, IntConst::make(at)),
                 high = Load::make(parts, IntConst::make(at + half));
      const std::string kept = names_.fresh("kept"), given = names_.fresh("given");
      const bool mixes = mutant("scattered-sums-mixed") && half == 1;
      stmts.push_back(Let::make(kept, Select::make(upper, high, low)));
      stmts.push_back(Let::make(given, Select::make(upper, low, mixes ? low : high)));
      const std::string other =
          names_.fresh("other");  // all lanes must execute the shuffle, even where `or` is lazy
      stmts.push_back(Let::make(
          other, LaneShuffle::make(ShuffleMode::Xor, Var::make(given, reduce.type),
                                   IntConst::make(distance, {DType::Int32, 1}), reduce.width)));
      stmts.push_back(Store::make(parts, IntConst::make(at),
                                  Binary::make(binary_of(reduce.op), Var::make(kept, reduce.type),
                                               Var::make(other, reduce.type))));
    }
  }

  // Combines the parts of the one sum that remains in each group of `lanes` neighbouring lanes.
  void add_up(const Buffer& parts, const LaneReduce& reduce, int lanes, std::vector<Stmt>& stmts) {
    const std::string all = names_.fresh("all");
    const Expr part = Load::make(parts, IntConst::make(0));
    stmts.push_back(Let::make(all, LaneReduce::make(reduce.op, part, lanes)));
    stmts.push_back(Store::make(parts, IntConst::make(0), Var::make(all, reduce.type)));
  }

  FreshNames names_;
  std::string lane_;  // variable of the enclosing lane loop; empty outside
};

}  // namespace

Kernel scatter_sums(Kernel kernel) {
  kernel.body = Scatterer(kernel).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
