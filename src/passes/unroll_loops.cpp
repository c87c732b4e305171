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

  // A loop over steps of `factor` copies and one over the remainder.
  Stmt some(const For& loop) {
    std::vector<Stmt> stmts;
    const Expr begin = bind(loop.begin, loop.var + "_begin", stmts);
    const Expr end = bind(loop.end, loop.var + "_end", stmts);
    const int64_t stride = loop.factor * loop.step;
    const Expr trips = ceil_divide(end - begin, loop.step);
    const Expr steps = Binary::make(BinaryOp::Div, trips, IntConst::make(loop.factor));
    const Expr middle = bind(begin + steps * stride, loop.var + "_rest", stmts);

    std::vector<Stmt> copies;
    for (int copy = 0; copy < loop.factor; ++copy) {
      const Expr here = Var::make(loop.var) + copy * loop.step;
      copies.push_back(Block::make({substitute(loop.body, loop.var, here)}));
    }
    // Ends where the last copy would run past the end: known earlier than where the rest begins,
    // which matters when loops are short and their ends mispredicted.
    const Expr last_round = loop.step == 1 ? end - (loop.factor - 1) : middle;
    stmts.push_back(For::make(loop.var, begin, last_round, Block::make(std::move(copies)),
                              LoopKind::Serial, 0, stride));
    if (!mutant("unroll-missing-remainder")) stmts.push_back(remainder(loop, middle, end));
    return Block::make(std::move(stmts));
  }

  static Stmt remainder(const For& loop, const Expr& begin, const Expr& end) {
    if (loop.factor == 2) return If::make(begin < end, iteration(loop, begin));
    return For::make(loop.var, begin, end, loop.body, LoopKind::Serial, 0, loop.step);
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
