// Unrolls inner loops first, so that copies contain unrolled loops.
#include "passes/unroll_loops.h"

#include <set>

#include "loop/fresh_names.h"
#include "loop/gpu.h"
#include "loop/rewrite.h"
#include "loop/used_names.h"
#include "passes/linear.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int64_t kMostCopies = 256;
constexpr int64_t kMostElements = 16;  // of a local array that is indexed by a loop variable
constexpr int kMostGuarded = 4;        // copies in a step with inactive iterations

// Makes the effects of a body conditional: variables that it assigns to and local arrays that it
// stores to keep their value unless the condition holds. The computation itself is unconditional.
class GuardedBody : public Rewriter {
 public:
  GuardedBody(const Stmt& body, Expr condition, FreshNames& names)
      : condition_(std::move(condition)), names_(names) {
    visit(
        body,
        [&](const Stmt& stmt) {
          if (const auto* declare = stmt.as<Declare>()) own_.insert(declare->name);
          if (const auto* allocate = stmt.as<Allocate>()) own_.insert(allocate->buffer->name);
        },
        [](const Expr&) {});
  }

  // Whether a body has only such effects and terminates.
  static bool can_hold(const Stmt& body) {
    bool can = true;
    visit(
        body,
        [&](const Stmt& stmt) {
          const auto* store = stmt.as<Store>();
          can &= !store || (store->buffer->space == Space::Local && !store->predicate);
          can &= stmt->kind != StmtKind::Atomic && stmt->kind != StmtKind::Barrier &&
                 stmt->kind != StmtKind::Invoke && stmt->kind != StmtKind::While;
        },
        [](const Expr&) {});
    return can;
  }

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* store = stmt.as<Store>(); store && !own_.contains(store->buffer->name)) {
      std::vector<Stmt> stmts;
      const Expr value = chosen(store->value, Load::make(store->buffer, store->index), stmts);
      stmts.push_back(Store::make(store->buffer, store->index, value));
      return Block::make(std::move(stmts));
    }
    if (const auto* assign = stmt.as<Assign>(); assign && !own_.contains(assign->name)) {
      std::vector<Stmt> stmts;
      const Expr old = Var::make(assign->name, assign->value.type());
      stmts.push_back(Assign::make(assign->name, chosen(assign->value, old, stmts)));
      return Block::make(std::move(stmts));
    }
    return Rewriter::rewrite(stmt);
  }

 private:
  // Computes both values, without a branch.
  Expr chosen(const Expr& value, const Expr& old, std::vector<Stmt>& stmts) {
    const std::string next = names_.fresh("next"), before = names_.fresh("before");
    stmts.push_back(Let::make(next, value));
    stmts.push_back(Let::make(before, old));
    return Select::make(condition_, Var::make(next, value.type()), Var::make(before, old.type()));
  }

  Expr condition_;
  FreshNames& names_;
  std::set<std::string> own_;  // variables and arrays that the body declares
};

Stmt as_serial(const For& loop) {
  return For::make(loop.var, loop.begin, loop.end, loop.body, ForKind::Serial, 0, loop.step);
}

Stmt iteration(const For& loop, const Expr& at) {
  return Block::make({Let::make(loop.var, at), loop.body});
}

// Evaluates a bound once, because the body may change its operands.
Expr computed_once(const Expr& value, const std::string& wish, FreshNames& names,
                   std::vector<Stmt>& stmts) {
  if (value.as<IntConst>()) return value;
  std::string name = names.fresh(wish);
  stmts.push_back(Let::make(name, value));
  return Var::make(std::move(name));
}

class Unroller : public Rewriter {
 public:
  Unroller(FreshNames& names, Backend backend, Remarks& remarks)
      : names_(names), on_gpu_(is_gpu(backend)), remarks_(remarks) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    Stmt result = Rewriter::rewrite(stmt);
    const auto* loop = result.as<For>();
    if (loop && on_gpu_ && loop->loop == ForKind::Serial && counts_through_registers(*loop))
      return written_out(*loop, *constant_extent(*loop), names_);
    return loop && loop->loop == ForKind::Unrolled ? unroll(*loop) : result;
  }

 private:
  Stmt unroll(const For& loop) {
    const auto extent = constant_difference(loop.end, loop.begin);
    // A launch provides exactly the shared memory that lowering laid out.
    if (on_gpu_ && shared_bytes(loop.body) > 0) {
      remarks_.push_back(concat("the loop over ", loop.var,
                                " stays serial: its copies would need separate shared memory"));
      return as_serial(loop);
    }
    if (extent) {
      const int64_t trips = std::max<int64_t>(0, (*extent + loop.step - 1) / loop.step);
      if (trips <= loop.factor || (loop.factor == 0 && trips <= kMostCopies))
        return written_out(loop, trips, names_);
    }
    if (loop.factor == 1) return as_serial(loop);
    if (loop.factor == 0 || loop.factor > kMostCopies) {
      remarks_.push_back(concat("the loop over ", loop.var, " stays serial: at most ", kMostCopies,
                                " copies are unrolled"));
      return as_serial(loop);
    }
    return some(loop);
  }

  // A loop over `factor` copies at a time, followed by the remainder. The start of the remainder is
  // not computed: the loop leaves it in its variable, where it is available early in short loops,
  // whose exit branches are mispredicted.
  Stmt some(const For& loop) {
    std::vector<Stmt> stmts;
    const Expr begin = computed_once(loop.begin, loop.var + "_begin", names_, stmts);
    const Expr end = computed_once(loop.end, loop.var + "_end", names_, stmts);
    const std::string next = names_.fresh(loop.var + "_next");
    stmts.push_back(Declare::make(next, begin));
    stmts.push_back(
        While::make(are_left(loop, loop.factor, next, end), copies(loop, loop.factor, next)));
    const auto extent = constant_difference(loop.end, loop.begin);
    const bool divides = extent && *extent % (loop.factor * loop.step) == 0;
    if (!divides && !mutant("unroll-missing-remainder")) remainder(loop, next, end, stmts);
    return Block::make(std::move(stmts));
  }

  // Whether at least `count` iterations are left from `next` on.
  static Expr are_left(const For& loop, int count, const std::string& next, const Expr& end) {
    return Var::make(next) < end - (count - 1) * loop.step;
  }

  // Executes `count` iterations from `next` on and advances `next` past them.
  static Stmt copies(const For& loop, int count, const std::string& next) {
    std::vector<Stmt> stmts = {Let::make(loop.var, Var::make(next))};
    for (int copy = 0; copy < count; ++copy) {
      const Expr here = Var::make(loop.var) + copy * loop.step;
      stmts.push_back(Block::make({substitute(loop.body, loop.var, here)}));
    }
    stmts.push_back(Assign::make(next, Var::make(next) + count * loop.step));
    return Block::make(std::move(stmts));
  }

  // The remainder in steps of factor / 2, factor / 4, ... copies, so that its loads still overlap;
  // a serial loop if the factor is no power of two. On a GPU, the last few copies form one masked
  // step.
  void remainder(const For& loop, const std::string& next, const Expr& end,
                 std::vector<Stmt>& stmts) {
    if (on_gpu_ && GuardedBody::can_hold(loop.body)) {
      int factor = loop.factor;
      for (; factor > kMostGuarded && factor % 2 == 0; factor /= 2)
        stmts.push_back(
            If::make(are_left(loop, factor / 2, next, end), copies(loop, factor / 2, next)));
      stmts.push_back(If::make(Var::make(next) < end, guarded_copies(loop, factor, next, end)));
      return;
    }
    if ((loop.factor & (loop.factor - 1)) != 0) {
      stmts.push_back(
          For::make(loop.var, Var::make(next), end, loop.body, ForKind::Serial, 0, loop.step));
      return;
    }
    for (int count = loop.factor / 2; count > 1; count /= 2)
      stmts.push_back(If::make(are_left(loop, count, next, end), copies(loop, count, next)));
    stmts.push_back(If::make(Var::make(next) < end, iteration(loop, Var::make(next))));
  }

  // One additional step. Iterations past the end repeat the last one without an effect. All loads
  // overlap, whereas successive steps would wait for each other.
  Stmt guarded_copies(const For& loop, int factor, const std::string& next, const Expr& end) {
    const std::string last = names_.fresh(loop.var + "_last");
    const Expr from = Var::make(next);
    const Expr length = end - from - 1;  // up to the start of the last iteration
    const Expr steps =
        loop.step == 1 ? length
                       : Binary::make(BinaryOp::Div, length, IntConst::make(loop.step)) * loop.step;
    std::vector<Stmt> stmts = {Let::make(last, from + steps)};
    for (int copy = 0; copy + 1 < factor; ++copy) {
      const std::string is_there = names_.fresh("is_there");
      const Expr wish = from + copy * loop.step;
      std::vector<Stmt> one = {Let::make(is_there, wish < end),
                               Let::make(loop.var, minimum(wish, Var::make(last)))};
      one.push_back(
          copy == 0
              ? loop.body
              : GuardedBody(loop.body, Var::make(is_there, kBool), names_).rewrite(loop.body));
      stmts.push_back(Block::make(std::move(one)));
    }
    return Block::make(std::move(stmts));
  }

  FreshNames& names_;
  bool on_gpu_;
  Remarks& remarks_;
};

}  // namespace

bool counts_through_registers(const For& loop) {
  const auto extent = constant_extent(loop);
  if (!extent || *extent > kMostElements) return false;
  bool counts = false;
  const auto look = [&](const Buffer& buffer, const Expr& index) {
    if (buffer->space == Space::Local) counts |= names_read(index).contains(loop.var);
  };
  visit(
      loop.body,
      [&](const Stmt& stmt) {
        if (const auto* store = stmt.as<Store>()) look(store->buffer, store->index);
      },
      [&](const Expr& expr) {
        if (const auto* load = expr.as<Load>()) look(load->buffer, load->index);
      });
  return counts;
}

Stmt written_out(const For& loop, int64_t trips, FreshNames& names) {
  std::vector<Stmt> stmts;
  const Expr begin = computed_once(loop.begin, loop.var + "_begin", names, stmts);
  for (int64_t trip = 0; trip < trips; ++trip)
    stmts.push_back(iteration(loop, begin + trip * loop.step));
  return Block::make(std::move(stmts));
}

Kernel unroll_loops(Kernel kernel, Backend backend, Remarks& remarks) {
  FreshNames names(kernel);
  kernel.body = Unroller(names, backend, remarks).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
