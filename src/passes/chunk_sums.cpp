// Finds the variables to which a loop only adds, outer loops first, and cuts the loops.
#include "passes/chunk_sums.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "passes/linear.h"

namespace tulle::passes {

using namespace loop;

namespace {

// A loop with at most this many iterations has no accumulators of its own.
constexpr int64_t kFewTerms = 16;

// An inner loop with at most this many expressions has a second version without chunks.
constexpr int kSmallBody = 64;

// Whether `value` is the variable `name` plus or minus other values.
bool adds_to(const Expr& value, const std::string& name) {
  if (const auto* var = value.as<Var>()) return var->name == name;
  const auto* sum = value.as<Binary>();
  if (!sum || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return false;
  return adds_to(sum->a, name) || (sum->op == BinaryOp::Add && adds_to(sum->b, name));
}

// The largest possible value of an index, if it has a constant bound.
std::optional<int64_t> bound_of_difference(const Expr& end, const Expr& begin) {
  const auto* least = end.as<Binary>();
  if (least && least->op == BinaryOp::Min) {
    const auto a = bound_of_difference(least->a, begin), b = bound_of_difference(least->b, begin);
    return a && b ? std::min(*a, *b) : a ? a : b;
  }
  if (least && least->op == BinaryOp::Sub && is_constant(begin, 0))
    return bound_of_difference(least->a, least->b);
  return constant_difference(end, begin);
}

bool is_serial(const For& loop) {
  return loop.loop == ForKind::Serial || loop.loop == ForKind::Vector ||
         loop.loop == ForKind::Unrolled;
}

// The iterations of a chunk. Each lane of a vector has an accumulator of its own.
int64_t iterations_of_chunk(const For& loop) {
  return loop.loop == ForKind::Vector ? kTermsOfChunk * loop.factor : kTermsOfChunk;
}

// The most iterations of a loop (in each lane), the largest integer if they have no constant bound.
int64_t most_iterations(const Stmt& stmt) {
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
  const auto* loop = stmt.as<For>();
  if (!loop) return kUnknown;
  const auto extent = bound_of_difference(loop->end, loop->begin);
  const int64_t lanes = loop->loop == ForKind::Vector ? loop->factor : 1;
  return extent ? *extent / loop->step / lanes : kUnknown;
}

// A variable to which a loop adds.
struct SumVariable {
  std::string name;
  Type type;
  bool is_scaled = false;  // the loop also scales it
};

// A variable that a loop scales before it adds to it, as the sum of exponentials relative to a
// maximum: v = v * factor + term.
struct ScaledSum {
  std::string name;
  Expr factor, term;
};

// The assignment as one to such a variable. No other statement of the loop reads the variable.
std::optional<ScaledSum> scaled_sum(const Assign& assign) {
  const auto* sum = assign.value.as<Binary>();
  const auto* product = sum && sum->op == BinaryOp::Add ? sum->a.as<Binary>() : nullptr;
  const auto* old = product && product->op == BinaryOp::Mul ? product->a.as<Var>() : nullptr;
  const DType scalar = assign.value.type().scalar;
  if (!old || old->name != assign.name || !(scalar == DType::Float32 || scalar == DType::Float64))
    return std::nullopt;
  return ScaledSum{assign.name, product->b, sum->b};
}

// Whether threads of a GPU must execute the statement together.
bool synchronises(const Stmt& stmt) {
  bool found = false;
  visit(
      stmt,
      [&](const Stmt& inner) {
        const auto* loop = inner.as<For>();
        found |= inner->kind == StmtKind::Barrier || (loop && loop->loop >= ForKind::Block);
      },
      [&](const Expr& expr) {
        found |= expr->kind == ExprKind::LaneReduce || expr->kind == ExprKind::LaneShuffle;
      });
  return found;
}

// The variables of the types f32 and f64 to which a loop only adds, and which it does not declare.
std::vector<SumVariable> sums_of(const Stmt& loop) {
  std::map<std::string, int> reads;
  std::map<std::string, int> additions;  // -1 for variables with other uses
  std::map<std::string, Type> types;
  std::map<std::string, int> assignments, scalings;
  visit(
      loop,
      [&](const Stmt& stmt) {
        if (const auto* declare = stmt.as<Declare>()) {
          additions[declare->name] = -1;
          assignments[declare->name] = 2;
        }
        const auto* assign = stmt.as<Assign>();
        if (!assign) return;
        ++assignments[assign->name];
        const DType scalar = assign->value.type().scalar;
        const bool adds = adds_to(assign->value, assign->name) && !assign->value.as<Var>() &&
                          (scalar == DType::Float32 || scalar == DType::Float64);
        int& count = additions[assign->name];
        count = count < 0 || !adds ? -1 : count + 1;
        types.insert_or_assign(assign->name, assign->value.type());
        if (scaled_sum(*assign)) ++scalings[assign->name];
      },
      [&](const Expr& expr) {
        if (const auto* var = expr.as<Var>()) ++reads[var->name];
      });
  std::vector<SumVariable> sums;
  for (const auto& [name, count] : additions) {
    if (count > 0 && reads[name] == count) sums.push_back({name, types.at(name)});
  }
  for (const auto& [name, count] : scalings) {
    if (count == 1 && assignments[name] == 1 && reads[name] == 1)
      sums.push_back({name, types.at(name), true});
  }
  return sums;
}

bool is_small(const Stmt& body) {
  int exprs = 0;
  visit(body, [](const Stmt&) {}, [&](const Expr&) { ++exprs; });
  return exprs <= kSmallBody;
}

// Renames variables in their assignments and reads.
class Renaming : public Rewriter {
 public:
  explicit Renaming(std::map<std::string, std::string> names) : names_(std::move(names)) {}

  Expr rewrite(const Expr& expr) override {
    const auto* var = expr.as<Var>();
    if (!var) return Rewriter::rewrite(expr);
    const auto name = names_.find(var->name);
    return name == names_.end() ? expr : Var::make(name->second, var->type);
  }

  Stmt rewrite(const Stmt& stmt) override {
    const auto* assign = stmt.as<Assign>();
    const auto name = assign ? names_.find(assign->name) : names_.end();
    if (name == names_.end()) return Rewriter::rewrite(stmt);
    return Assign::make(name->second, rewrite(assign->value));
  }

 private:
  std::map<std::string, std::string> names_;
};

// The sum with its rounding errors, which are NaN if the sum is infinite.
Expr corrected(const Expr& sum, const Expr& errors) {
  const Expr infinity = constant(errors.type(), std::numeric_limits<double>::infinity());
  const Expr is_finite = Call::make(Function::Abs, {errors}) < infinity;
  return Select::make(is_finite, sum + errors, sum);
}

// The total of the chunks before the current one, as an unevaluated sum of two variables.
class Total {
 public:
  Total(const SumVariable& sum, FreshNames& names)
      : sum_(Var::make(sum.name, sum.type)),
        high_(Var::make(names.fresh(sum.name + "_high"), sum.type)),
        low_(Var::make(names.fresh(sum.name + "_low"), sum.type)),
        names_(names) {}

  void declare(std::vector<Stmt>& out) const {
    for (const Expr& part : {high_, low_}) out.push_back(Declare::make(name_of(part), zero()));
  }

  void scale(const Expr& factor, std::vector<Stmt>& out) const {
    for (const Expr& part : {high_, low_})
      out.push_back(Assign::make(name_of(part), part * factor));
  }

  // Adds the sum of a chunk and resets it.
  void take(std::vector<Stmt>& out) const {
    add(out);
    out.push_back(Assign::make(name_of(sum_), zero()));
  }

  // Adds the sum of the last chunk, and makes the total the value of the variable.
  void finish(std::vector<Stmt>& out) const {
    add(out);
    out.push_back(Assign::make(name_of(sum_), corrected(high_, low_)));
  }

 private:
  static const std::string& name_of(const Expr& var) { return var.as<Var>()->name; }
  Expr zero() const { return constant(sum_.type(), 0); }

  // Adds the rounding error of the addition (Knuth's TwoSum) to the lower part.
  void add(std::vector<Stmt>& out) const {
    const auto let = [&](const std::string& wish, const Expr& value) {
      out.push_back(Let::make(names_.fresh(wish), value));
      return Var::make(out.back().as<Let>()->name, value.type());
    };
    const Expr total = let("total", high_ + sum_);
    const Expr added = let("added", total - high_);
    const Expr error = let("error", (high_ - (total - added)) + (sum_ - added));
    out.push_back(Assign::make(name_of(low_), low_ + error));
    out.push_back(Assign::make(name_of(high_), total));
  }

  Expr sum_, high_, low_;
  FreshNames& names_;
};

// Lets a loop scale the totals of chunks together with the sums.
class ScaledTotals : public Rewriter {
 public:
  explicit ScaledTotals(FreshNames& names) : names_(names) {}

  void add(const SumVariable& sum, const Total& total) { totals_.emplace(sum.name, &total); }

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const auto* assign = stmt.as<Assign>();
    const auto total = assign ? totals_.find(assign->name) : totals_.end();
    if (total == totals_.end()) return Rewriter::rewrite(stmt);
    const ScaledSum sum = *scaled_sum(*assign);
    const std::string name = names_.fresh("factor");
    const Expr factor = Var::make(name, sum.factor.type());
    std::vector<Stmt> out = {Let::make(name, sum.factor)};
    const Expr scaled = Var::make(sum.name, factor.type()) * factor;
    out.push_back(Assign::make(sum.name, scaled + sum.term));
    total->second->scale(factor, out);
    return Block::make(std::move(out));
  }

 private:
  FreshNames& names_;
  std::map<std::string, const Total*> totals_;
};

class Chunker : public Rewriter {
 public:
  explicit Chunker(FreshNames& names) : names_(names) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<For>();
    if (!loop && !stmt.as<While>()) return Rewriter::rewrite(stmt);
    const bool is_cut = (!loop || is_serial(*loop)) && !synchronises(stmt);
    ++depth_;
    const Stmt result = is_cut ? with_own_sums(stmt) : Rewriter::rewrite(stmt);
    --depth_;
    return result;
  }

 private:
  // The loop with variables of its own for the sums that a loop around it also adds to.
  Stmt with_own_sums(const Stmt& loop) {
    const int64_t most = most_iterations(loop);
    std::vector<SumVariable> sums = most > kFewTerms ? sums_of(loop) : std::vector<SumVariable>();
    std::map<std::string, std::string> own;
    std::vector<Stmt> before, after;
    // The loops around scale such sums, too, so only the outermost loop is cut.
    std::erase_if(
        sums, [&](const SumVariable& sum) { return sum.is_scaled && around_.contains(sum.name); });
    for (SumVariable& sum : sums) {
      if (!around_.contains(sum.name)) continue;
      const std::string name = names_.fresh(sum.name + "_part");
      own[sum.name] = name;
      before.push_back(Declare::make(name, constant(sum.type, 0)));
      after.push_back(
          Assign::make(sum.name, Var::make(sum.name, sum.type) + Var::make(name, sum.type)));
      sum.name = name;
    }
    std::vector<Stmt> stmts = std::move(before);
    const Stmt renamed = own.empty() ? loop : Renaming(own).rewrite(loop);
    stmts.push_back(most > kTermsOfChunk ? in_chunks(renamed, sums) : Rewriter::rewrite(renamed));
    stmts.insert(stmts.end(), after.begin(), after.end());
    return stmts.size() == 1 ? stmts[0] : Block::make(std::move(stmts));
  }

  Stmt in_chunks(const Stmt& stmt, const std::vector<SumVariable>& sums) {
    for (const SumVariable& sum : sums) ++around_[sum.name];
    const Stmt inside = Rewriter::rewrite(stmt);
    for (const SumVariable& sum : sums) around_.erase(sum.name);
    if (sums.empty()) return inside;
    std::vector<Total> totals;
    for (const SumVariable& sum : sums) totals.emplace_back(sum, names_);
    std::vector<Stmt> out;
    for (const Total& total : totals) total.declare(out);
    ScaledTotals scaling(names_);
    for (size_t at = 0; at < sums.size(); ++at) {
      if (sums[at].is_scaled) scaling.add(sums[at], totals[at]);
    }
    const Stmt scaled = scaling.rewrite(inside);
    const auto* loop = scaled.as<For>();
    if (!loop) {
      chunks_of_while(*scaled.as<While>(), totals, out);
    } else if (has_short_version(*inside.as<For>(), sums)) {
      // Most inner loops are short, and the chunks would take as long as a few iterations.
      chunks_of_for(*loop, totals, true, out);
      const Expr is_short =
          loop->end - loop->begin <= IntConst::make(iterations_of_chunk(*loop) * loop->step);
      return If::make(is_short, inside, Block::make(std::move(out)));
    } else {
      chunks_of_for(*loop, totals, false, out);
    }
    return Block::make(std::move(out));
  }

  // Scaling takes time in each iteration, so short loops do without it in any case.
  bool has_short_version(const For& loop, const std::vector<SumVariable>& sums) const {
    return (depth_ > 1 && is_small(loop.body)) ||
           std::any_of(sums.begin(), sums.end(),
                       [](const SumVariable& sum) { return sum.is_scaled; });
  }

  // `is_long`: whether there certainly are several chunks. The sum of a single chunk keeps its
  // bits.
  void chunks_of_for(const For& loop, const std::vector<Total>& totals, bool is_long,
                     std::vector<Stmt>& out) {
    const Expr begin = let(loop.var + "_begin", loop.begin, out);
    const Expr end = let(loop.var + "_end", loop.end, out);
    const int64_t length = iterations_of_chunk(loop) * loop.step;
    const Expr next = Var::make(names_.fresh(loop.var + "_chunk"));
    out.push_back(Declare::make(next.as<Var>()->name, begin));
    std::vector<Stmt> body;
    const Expr first = let(loop.var + "_first", next, body);
    const Expr last = let(loop.var + "_last", minimum(first + length, end), body);
    body.push_back(For::make(loop.var, first, last, loop.body, loop.loop, loop.factor, loop.step));
    body.push_back(Assign::make(next.as<Var>()->name, last));
    body.push_back(If::make(last < end, taken(totals)));
    out.push_back(While::make(next < end, Block::make(std::move(body))));
    const Stmt finish = finished(totals);
    out.push_back(is_long ? finish : If::make(IntConst::make(length) < end - begin, finish));
  }

  void chunks_of_while(const While& loop, const std::vector<Total>& totals,
                       std::vector<Stmt>& out) {
    const Expr count = Var::make(names_.fresh("iterations"));
    const std::string& name = count.as<Var>()->name;
    const Expr is_taken = Var::make(names_.fresh("several_chunks"), kBool);
    out.push_back(Declare::make(name, IntConst::make(0)));
    out.push_back(Declare::make(is_taken.as<Var>()->name, IntConst::make(0, kBool)));
    std::vector<Stmt> full;
    full.push_back(Assign::make(name, IntConst::make(0)));
    full.push_back(Assign::make(is_taken.as<Var>()->name, IntConst::make(1, kBool)));
    full.push_back(taken(totals));
    const Stmt body = Block::make(
        {loop.body, Assign::make(name, count + 1),
         If::make(count == IntConst::make(kTermsOfChunk), Block::make(std::move(full)))});
    out.push_back(While::make(loop.condition, body));
    out.push_back(If::make(is_taken, finished(totals)));
  }

  static Stmt taken(const std::vector<Total>& totals) {
    std::vector<Stmt> stmts;
    for (const Total& total : totals) total.take(stmts);
    return Block::make(std::move(stmts));
  }

  static Stmt finished(const std::vector<Total>& totals) {
    std::vector<Stmt> stmts;
    for (const Total& total : totals) total.finish(stmts);
    return Block::make(std::move(stmts));
  }

  Expr let(const std::string& wish, const Expr& value, std::vector<Stmt>& out) {
    const std::string name = names_.fresh(wish);
    out.push_back(Let::make(name, value));
    return Var::make(name);
  }

  FreshNames& names_;
  std::map<std::string, int> around_;  // the sums of the enclosing loops
  int depth_ = 0;                      // of loops
};

}  // namespace

Kernel chunk_sums(Kernel kernel) {
  FreshNames names(kernel);
  kernel.body = Chunker(names).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
