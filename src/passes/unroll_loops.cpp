// Unrolls inner loops first, so that copies are made of what is already written out.
#include "passes/unroll_loops.h"

#include "loop/rewrite.h"
#include "passes/linear.h"
#include "passes/names.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int64_t kMostCopies = 256;

Stmt as_serial(const For& loop) {
  return For::make(loop.var, loop.begin, loop.end, loop.body, LoopKind::Serial, 0, loop.step);
}

class Unroller : public Rewriter {
 public:
  Unroller(Names& names, Remarks& remarks) : names_(names), remarks_(remarks) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    Stmt result = Rewriter::rewrite(stmt);
    const auto* loop = result.as<For>();
    return loop && loop->loop == LoopKind::Unrolled ? unroll(*loop) : result;
  }

 private:
  Stmt unroll(const For& loop) {
    const auto extent = constant_difference(loop.end, loop.begin);
    if (extent) {
      const int64_t trips = std::max<int64_t>(0, (*extent + loop.step - 1) / loop.step);
      if (trips <= loop.factor || (loop.factor == 0 && trips <= kMostCopies))
        return all(loop, trips);
    }
    if (loop.factor == 1) return as_serial(loop);
    if (loop.factor == 0 || loop.factor > kMostCopies) {
      remarks_.push_back(concat("the loop over ", loop.var, " stays serial: at most ", kMostCopies,
                                " copies are written out"));
      return as_serial(loop);
    }
    return some(loop);
  }

  // Every iteration, one after the other.
  Stmt all(const For& loop, int64_t trips) {
    std::vector<Stmt> stmts;
    const Expr begin = bind(loop.begin, loop.var + "_begin", stmts);
    for (int64_t copy = 0; copy < trips; ++copy) {
      stmts.push_back(iteration(loop, begin + copy * loop.step));
    }
    return Block::make(std::move(stmts));
  }

  // A loop that takes `factor` copies at a time as long as there are so many, then the remainder.
  // Where that begins is not computed: the loop over the copies leaves it in its variable, which is
  // known early enough for short loops, whose ends are mispredicted.
  Stmt some(const For& loop) {
    std::vector<Stmt> stmts;
    const Expr begin = bind(loop.begin, loop.var + "_begin", stmts);
    const Expr end = bind(loop.end, loop.var + "_end", stmts);
    const std::string next = names_.fresh(loop.var + "_next");
    stmts.push_back(Declare::make(next, begin));
    stmts.push_back(
        While::make(are_left(loop, loop.factor, next, end), copies(loop, loop.factor, next)));
    const auto extent = constant_difference(loop.end, loop.begin);
    const bool divides = extent && *extent % (loop.factor * loop.step) == 0;
    if (!divides && !mutant("unroll-missing-remainder")) remainder(loop, next, end, stmts);
    return Block::make(std::move(stmts));
  }

  // Whether there are so many iterations from `next` on.
  static Expr are_left(const For& loop, int count, const std::string& next, const Expr& end) {
    return Var::make(next) < end - (count - 1) * loop.step;
  }

  // So many iterations from `next` on, which then stands after them.
  static Stmt copies(const For& loop, int count, const std::string& next) {
    std::vector<Stmt> stmts = {Let::make(loop.var, Var::make(next))};
    for (int copy = 0; copy < count; ++copy) {
      const Expr here = Var::make(loop.var) + copy * loop.step;
      stmts.push_back(Block::make({substitute(loop.body, loop.var, here)}));
    }
    stmts.push_back(Assign::make(next, Var::make(next) + count * loop.step));
    return Block::make(std::move(stmts));
  }

  // Half as many copies, a quarter and so on, so that the loads of what is left are still made
  // together; one after the other where the factor is no power of two.
  static void remainder(const For& loop, const std::string& next, const Expr& end,
                        std::vector<Stmt>& stmts) {
    if ((loop.factor & (loop.factor - 1)) != 0) {
      stmts.push_back(
          For::make(loop.var, Var::make(next), end, loop.body, LoopKind::Serial, 0, loop.step));
      return;
    }
    for (int count = loop.factor / 2; count > 1; count /= 2)
      stmts.push_back(If::make(are_left(loop, count, next, end), copies(loop, count, next)));
    stmts.push_back(If::make(Var::make(next) < end, iteration(loop, Var::make(next))));
  }

  static Stmt iteration(const For& loop, const Expr& at) {
    return Block::make({Let::make(loop.var, at), loop.body});
  }

  // A bound is computed once: the body may change what it was computed from.
  Expr bind(const Expr& value, const std::string& wish, std::vector<Stmt>& stmts) {
    if (value.as<IntConst>()) return value;
    std::string name = names_.fresh(wish);
    stmts.push_back(Let::make(name, value));
    return Var::make(std::move(name));
  }

  Names& names_;
  Remarks& remarks_;
};

}  // namespace

Kernel unroll_loops(Kernel kernel, Remarks& remarks) {
  Names names(kernel);
  kernel.body = Unroller(names, remarks).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
