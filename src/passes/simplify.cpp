// Simplifies expressions and control flow up to a fixed point.
#include "passes/simplify.h"

#include <map>
#include <set>
#include <string>

#include "loop/rewrite.h"
#include "passes/dead_code.h"
#include "passes/linear.h"
#include "passes/simplify_expr.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int kMostRounds = 8;

bool is_empty(const Stmt& stmt) {
  const auto* block = stmt.as<Block>();
  return !stmt || (block && block->stmts.empty());
}

bool binds_a_name(const Stmt& stmt) {
  const auto* atomic = stmt.as<Atomic>();
  return stmt.as<Let>() || stmt.as<Declare>() || stmt.as<Allocate>() ||
         (atomic && !atomic->result.empty());
}

// Whether the statements of the block can move to the enclosing block.
bool dissolves(const Block& block) {
  for (const Stmt& stmt : block.stmts) {
    if (binds_a_name(stmt)) return false;
  }
  return true;
}

// Loops that are not bound to workers or hardware indices.
bool is_plain(const For& loop) {
  return loop.loop == ForKind::Serial || loop.loop == ForKind::Vector ||
         loop.loop == ForKind::Unrolled;
}

bool store_to_same(const Stmt& a, const Stmt& b) {
  const auto *x = a.as<Store>(), *y = b.as<Store>();
  return x && y && x->buffer->name == y->buffer->name;
}

std::set<std::string> mutable_names(const Stmt& body) {
  std::set<std::string> names;
  visit(
      body,
      [&](const Stmt& stmt) {
        if (const auto* declare = stmt.as<Declare>()) names.insert(declare->name);
      },
      [](const Expr&) {});
  return names;
}

class Simplifier : public Rewriter {
 public:
  explicit Simplifier(std::set<std::string> mutable_names) : mutable_(std::move(mutable_names)) {}

  Expr rewrite(const Expr& expr) override {
    if (const auto* var = expr.as<Var>()) {
      const auto value = forwarded_.find(var->name);
      return value == forwarded_.end() ? expr : value->second;
    }
    return simplify_node(Rewriter::rewrite(expr));
  }

  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* loop = stmt.as<For>()) forwarded_.erase(loop->var);
    if (const auto* atomic = stmt.as<Atomic>()) forwarded_.erase(atomic->result);
    Stmt result = Rewriter::rewrite(stmt);
    switch (result->kind) {
      case StmtKind::Block:
        return flatten(result);
      case StmtKind::Let:
        return forward(result);
      case StmtKind::Declare:
        forwarded_.erase(result.as<Declare>()->name);
        return result;
      case StmtKind::If:
        return simplify_if(result);
      case StmtKind::For:
        return simplify_for(result);
      case StmtKind::While:
        return is_constant(result.as<While>()->condition, 0) ? nothing() : result;
      case StmtKind::Store:
        return simplify_store(result);
      default:
        return result;
    }
  }

 private:
  static Stmt nothing() { return Block::make({}); }

  // Forwards a trivial let to its uses.
  Stmt forward(const Stmt& stmt) {
    const auto* let = stmt.as<Let>();
    forwarded_.erase(let->name);
    if (!is_trivial(let->value)) return stmt;
    forwarded_[let->name] = let->value;
    return nothing();
  }

  // Constants, immutable names, and immutable names plus or minus a constant.
  bool is_trivial(const Expr& value) const {
    if (value.as<IntConst>() || value.as<FloatConst>()) return true;
    if (const auto* var = value.as<Var>()) return !mutable_.contains(var->name);
    const auto* binary = value.as<Binary>();
    return binary && value.type() == kIndex &&
           (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub) &&
           binary->b.as<IntConst>() && binary->a.as<Var>() && is_trivial(binary->a);
  }

  static Stmt flatten(const Stmt& stmt) {
    const auto* block = stmt.as<Block>();
    if (block->stmts.size() == 1 && block->stmts[0].as<Block>()) return block->stmts[0];
    std::vector<Stmt> stmts;
    bool changed = false;
    for (const Stmt& inner : block->stmts) {
      const auto* nested = inner.as<Block>();
      if (nested && dissolves(*nested)) {
        stmts.insert(stmts.end(), nested->stmts.begin(), nested->stmts.end());
        changed = true;
        continue;
      }
      if (mutant("simplify-drops-store") && !stmts.empty() && store_to_same(stmts.back(), inner)) {
        stmts.pop_back();
        changed = true;
      }
      stmts.push_back(inner);
    }
    return changed ? Block::make(std::move(stmts)) : stmt;
  }

  Stmt simplify_if(const Stmt& stmt) {
    const auto* branch = stmt.as<If>();
    if (is_empty(branch->yes) && is_empty(branch->no)) return nothing();
    if (is_empty(branch->yes)) {
      return If::make(simplify_node(Call::make(Function::Not, {branch->condition})), branch->no);
    }
    const bool half = branch->no && is_empty(branch->no);
    return half || branch->condition.as<IntConst>()
               ? If::make(branch->condition, branch->yes, half ? Stmt() : branch->no)
               : stmt;
  }

  static Stmt simplify_for(const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    if (!is_plain(*loop)) return stmt;
    if (is_empty(loop->body)) return nothing();
    const auto extent = constant_difference(loop->end, loop->begin);
    if (!extent) return stmt;
    if (*extent <= 0) return nothing();
    if (*extent > loop->step) return stmt;
    return Block::make({Let::make(loop->var, loop->begin), loop->body});
  }

  static Stmt simplify_store(const Stmt& stmt) {
    const auto* store = stmt.as<Store>();
    const auto* spread = store->predicate.as<Broadcast>();
    if (!spread || !is_constant(spread->value, 1)) return stmt;
    return Store::make(store->buffer, store->index, store->value, {}, store->nontemporal);
  }

  std::set<std::string> mutable_;
  std::map<std::string, Expr> forwarded_;
};

}  // namespace

Kernel simplify(Kernel kernel) {
  for (int round = 0; round < kMostRounds; ++round) {
    const Stmt before = kernel.body;
    kernel.body = drop_unread(Simplifier(mutable_names(before)).rewrite(before));
    if (kernel.body.get() == before.get()) break;
  }
  return kernel;
}

}  // namespace tulle::passes
