// Splits the bodies of such loops, inner loops first.
#include "passes/hoist_conditions.h"

#include <set>
#include <string>
#include <vector>

#include "loop/rewrite.h"
#include "loop/used_names.h"

namespace tulle::passes {

using namespace loop;

namespace {

bool asks_other_lanes(const Expr& expr) {
  bool asks = false;
  visit(expr,
        [&](const Expr& inner) { asks |= inner.as<LaneReduce>() || inner.as<LaneShuffle>(); });
  return asks;
}

// The names that change while a loop runs.
class Changes {
 public:
  explicit Changes(const For& loop) : names_(names_written(loop.body)) { names_.insert(loop.var); }

  // Whether the expression is loop-invariant and depends neither on memory nor on other lanes.
  bool spare(const Expr& expr) const {
    bool is_spared = true;
    visit(expr, [&](const Expr& inner) {
      if (const auto* var = inner.as<Var>()) is_spared &= !names_.contains(var->name);
      is_spared &= !inner.as<Load>();
    });
    return is_spared && !asks_other_lanes(expr);
  }

  void drop(const std::string& name) { names_.erase(name); }

 private:
  std::set<std::string> names_;
};

bool is_plain(const For& loop) {
  return loop.loop == ForKind::Serial || loop.loop == ForKind::Unrolled;
}

// The condition at the end of a sequence of lets, if it has no else branch. Null if there are other
// statements, or if a let reads other lanes, which may not satisfy the condition.
const If* condition_at_end(const std::vector<Stmt>& stmts) {
  const If* test = stmts.empty() ? nullptr : stmts.back().as<If>();
  if (!test || test->no) return nullptr;
  for (size_t at = 0; at + 1 < stmts.size(); ++at) {
    const auto* let = stmts[at].as<Let>();
    if (!let || asks_other_lanes(let->value)) return nullptr;
  }
  return test;
}

class Hoisting : public Rewriter {
 public:
  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const Stmt result = Rewriter::rewrite(stmt);
    const auto* loop = result.as<For>();
    return loop && is_plain(*loop) ? hoist(*loop, result) : result;
  }

 private:
  static Stmt hoist(const For& loop, const Stmt& whole) {
    std::vector<Stmt> body = statements_of(loop.body);
    const If* test = condition_at_end(body);
    if (!test || asks_other_lanes(loop.begin) || asks_other_lanes(loop.end)) return whole;
    Changes changes(loop);
    if (!changes.spare(test->condition)) return whole;
    body.pop_back();
    std::vector<Stmt> before;
    for (const Stmt& stmt : statements_of(test->yes)) {
      const auto* let = stmt.as<Let>();
      if (let && changes.spare(let->value)) {
        changes.drop(let->name);
        before.push_back(stmt);
      } else {
        body.push_back(stmt);
      }
    }
    before.push_back(For::make(loop.var, loop.begin, loop.end, Block::make(std::move(body)),
                               loop.loop, loop.factor, loop.step));
    return If::make(test->condition, Block::make(std::move(before)));
  }
};

}  // namespace

Kernel hoist_conditions(Kernel kernel) {
  kernel.body = Hoisting().rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
