// Visits and rebuilds loop-IR trees, with one case per node.
#include "loop/rewrite.h"

#include "support/check.h"

namespace tulle::loop {

namespace {

// Collects rewritten children and records whether any of them changed.
class Children {
 public:
  explicit Children(Rewriter& rewriter) : rewriter_(rewriter) {}

  template <typename Tree>  // Expr or Stmt, may be null
  Tree operator()(const Tree& tree) {
    if (!tree) return tree;
    Tree result = rewriter_.rewrite(tree);
    changed_ |= result.get() != tree.get();
    return result;
  }

  Buffer operator()(const Buffer& buffer) {
    Buffer result = rewriter_.rewrite_buffer(buffer);
    changed_ |= result != buffer;
    return result;
  }

  template <typename Tree>
  std::vector<Tree> operator()(const std::vector<Tree>& trees) {
    std::vector<Tree> result;
    result.reserve(trees.size());
    for (const Tree& tree : trees) result.push_back((*this)(tree));
    return result;
  }

  bool changed() const { return changed_; }

 private:
  Rewriter& rewriter_;
  bool changed_ = false;
};

// Visits the operands of an expression in evaluation order.
template <typename Visit>
void for_each_child(const Expr& expr, const Visit& visit) {
  switch (expr->kind) {
    case ExprKind::IntConst:
    case ExprKind::FloatConst:
    case ExprKind::Var:
      return;
    case ExprKind::Binary:
      visit(expr.as<Binary>()->a);
      return visit(expr.as<Binary>()->b);
    case ExprKind::Select: {
      const auto* node = expr.as<Select>();
      visit(node->condition);
      visit(node->yes);
      return visit(node->no);
    }
    case ExprKind::Cast:
      return visit(expr.as<Cast>()->value);
    case ExprKind::Call:
      for (const Expr& arg : expr.as<Call>()->args) visit(arg);
      return;
    case ExprKind::Load: {
      const auto* node = expr.as<Load>();
      visit(node->index);
      if (node->predicate) visit(node->predicate);
      return;
    }
    case ExprKind::Ramp:
      visit(expr.as<Ramp>()->base);
      return visit(expr.as<Ramp>()->stride);
    case ExprKind::Broadcast:
      return visit(expr.as<Broadcast>()->value);
    case ExprKind::VectorReduce:
      return visit(expr.as<VectorReduce>()->value);
    case ExprKind::LaneReduce:
      return visit(expr.as<LaneReduce>()->value);
    case ExprKind::LaneShuffle:
      visit(expr.as<LaneShuffle>()->value);
      return visit(expr.as<LaneShuffle>()->lane);
  }
  internal_error("an expression of unknown kind");
}

class Substitution : public Rewriter {
 public:
  Substitution(const std::string& name, const Expr& value) : name_(name), value_(value) {}

  using Rewriter::rewrite;
  Expr rewrite(const Expr& expr) override {
    const auto* var = expr.as<Var>();
    if (!var || var->name != name_) return Rewriter::rewrite(expr);
    TULLE_CHECK(var->type == value_.type(), "a ", to_string(value_.type()), " in place of ", name_);
    return value_;
  }

 private:
  const std::string& name_;
  const Expr& value_;
};

}  // namespace

Expr Rewriter::rewrite(const Expr& expr) {
  Children child(*this);
  switch (expr->kind) {
    case ExprKind::IntConst:
    case ExprKind::FloatConst:
    case ExprKind::Var:
      return expr;
    case ExprKind::Binary: {
      const auto* node = expr.as<Binary>();
      Expr a = child(node->a), b = child(node->b);
      return child.changed() ? Binary::make(node->op, a, b) : expr;
    }
    case ExprKind::Select: {
      const auto* node = expr.as<Select>();
      Expr condition = child(node->condition), yes = child(node->yes), no = child(node->no);
      return child.changed() ? Select::make(condition, yes, no) : expr;
    }
    case ExprKind::Cast: {
      Expr value = child(expr.as<Cast>()->value);
      return child.changed() ? Cast::make(expr.type().scalar, value) : expr;
    }
    case ExprKind::Call: {
      const auto* node = expr.as<Call>();
      std::vector<Expr> args = child(node->args);
      return child.changed() ? Call::make(node->function, std::move(args)) : expr;
    }
    case ExprKind::Load: {
      const auto* node = expr.as<Load>();
      const Buffer buffer = child(node->buffer);
      Expr index = child(node->index), predicate = child(node->predicate);
      return child.changed() ? Load::make(buffer, index, predicate) : expr;
    }
    case ExprKind::Ramp: {
      const auto* node = expr.as<Ramp>();
      Expr base = child(node->base), stride = child(node->stride);
      return child.changed() ? Ramp::make(base, stride, expr.type().lanes) : expr;
    }
    case ExprKind::Broadcast: {
      Expr value = child(expr.as<Broadcast>()->value);
      return child.changed() ? Broadcast::make(value, expr.type().lanes) : expr;
    }
    case ExprKind::VectorReduce: {
      const auto* node = expr.as<VectorReduce>();
      Expr value = child(node->value);
      return child.changed() ? VectorReduce::make(node->op, value) : expr;
    }
    case ExprKind::LaneReduce: {
      const auto* node = expr.as<LaneReduce>();
      Expr value = child(node->value);
      return child.changed() ? LaneReduce::make(node->op, value, node->width) : expr;
    }
    case ExprKind::LaneShuffle: {
      const auto* node = expr.as<LaneShuffle>();
      Expr value = child(node->value), lane = child(node->lane);
      return child.changed() ? LaneShuffle::make(node->mode, value, lane, node->width) : expr;
    }
  }
  internal_error("an expression of unknown kind");
}

Stmt Rewriter::rewrite(const Stmt& stmt) {
  Children child(*this);
  switch (stmt->kind) {
    case StmtKind::Block: {
      std::vector<Stmt> stmts = child(stmt.as<Block>()->stmts);
      return child.changed() ? Block::make(std::move(stmts)) : stmt;
    }
    case StmtKind::Let: {
      const auto* node = stmt.as<Let>();
      Expr value = child(node->value);
      return child.changed() ? Let::make(node->name, value) : stmt;
    }
    case StmtKind::Declare: {
      const auto* node = stmt.as<Declare>();
      Expr init = child(node->init);
      return child.changed() ? Declare::make(node->name, init) : stmt;
    }
    case StmtKind::Assign: {
      const auto* node = stmt.as<Assign>();
      Expr value = child(node->value);
      return child.changed() ? Assign::make(node->name, value) : stmt;
    }
    case StmtKind::Store: {
      const auto* node = stmt.as<Store>();
      const Buffer buffer = child(node->buffer);
      Expr index = child(node->index), value = child(node->value),
           predicate = child(node->predicate);
      return child.changed() ? Store::make(buffer, index, value, predicate, node->nontemporal)
                             : stmt;
    }
    case StmtKind::For: {
      const auto* node = stmt.as<For>();
      Expr begin = child(node->begin), end = child(node->end);
      Stmt body = child(node->body);
      return child.changed()
                 ? For::make(node->var, begin, end, body, node->loop, node->factor, node->step)
                 : stmt;
    }
    case StmtKind::While: {
      const auto* node = stmt.as<While>();
      Expr condition = child(node->condition);
      Stmt body = child(node->body);
      return child.changed() ? While::make(condition, body) : stmt;
    }
    case StmtKind::If: {
      const auto* node = stmt.as<If>();
      Expr condition = child(node->condition);
      Stmt yes = child(node->yes), no = child(node->no);
      return child.changed() ? If::make(condition, yes, no) : stmt;
    }
    case StmtKind::Allocate: {
      const auto* node = stmt.as<Allocate>();
      const Buffer buffer = child(node->buffer);
      Expr size = child(node->size);
      return child.changed() ? Allocate::make(buffer, size, node->zeroed) : stmt;
    }
    case StmtKind::Atomic: {
      const auto* node = stmt.as<Atomic>();
      const Buffer buffer = child(node->buffer);
      Expr index = child(node->index), value = child(node->value);
      return child.changed() ? Atomic::make(node->op, buffer, index, value, node->result) : stmt;
    }
    case StmtKind::Barrier:
      return stmt;
    case StmtKind::PrefetchLine: {
      const auto* node = stmt.as<PrefetchLine>();
      const Buffer buffer = child(node->buffer);
      Expr index = child(node->index);
      return child.changed() ? PrefetchLine::make(buffer, index, node->locality) : stmt;
    }
    case StmtKind::Invoke: {
      const auto* node = stmt.as<Invoke>();
      const Buffer buffer = child(node->buffer);
      std::vector<Expr> args = child(node->args);
      return child.changed() ? Invoke::make(node->function, buffer, std::move(args)) : stmt;
    }
  }
  internal_error("a statement of unknown kind");
}

std::vector<Expr> children_of(const Expr& expr) {
  std::vector<Expr> children;
  for_each_child(expr, [&](const Expr& child) { children.push_back(child); });
  return children;
}

std::vector<Stmt> statements_of(const Stmt& stmt) {
  const auto* block = stmt.as<Block>();
  return block ? block->stmts : std::vector<Stmt>{stmt};
}

void visit(const Expr& expr, const std::function<void(const Expr&)>& on_expr) {
  if (!expr) return;
  on_expr(expr);
  for_each_child(expr, [&](const Expr& child) { visit(child, on_expr); });
}

void visit(const Stmt& stmt, const std::function<void(const Stmt&)>& on_stmt,
           const std::function<void(const Expr&)>& on_expr) {
  if (!stmt) return;
  on_stmt(stmt);
  switch (stmt->kind) {
    case StmtKind::Block:
      for (const Stmt& inner : stmt.as<Block>()->stmts) visit(inner, on_stmt, on_expr);
      return;
    case StmtKind::Let:
      return visit(stmt.as<Let>()->value, on_expr);
    case StmtKind::Declare:
      return visit(stmt.as<Declare>()->init, on_expr);
    case StmtKind::Assign:
      return visit(stmt.as<Assign>()->value, on_expr);
    case StmtKind::Store: {
      const auto* node = stmt.as<Store>();
      visit(node->index, on_expr);
      visit(node->value, on_expr);
      return visit(node->predicate, on_expr);
    }
    case StmtKind::For: {
      const auto* node = stmt.as<For>();
      visit(node->begin, on_expr);
      visit(node->end, on_expr);
      return visit(node->body, on_stmt, on_expr);
    }
    case StmtKind::While:
      visit(stmt.as<While>()->condition, on_expr);
      return visit(stmt.as<While>()->body, on_stmt, on_expr);
    case StmtKind::If: {
      const auto* node = stmt.as<If>();
      visit(node->condition, on_expr);
      visit(node->yes, on_stmt, on_expr);
      return visit(node->no, on_stmt, on_expr);
    }
    case StmtKind::Allocate:
      return visit(stmt.as<Allocate>()->size, on_expr);
    case StmtKind::Atomic:
      visit(stmt.as<Atomic>()->index, on_expr);
      return visit(stmt.as<Atomic>()->value, on_expr);
    case StmtKind::Barrier:
      return;
    case StmtKind::PrefetchLine:
      return visit(stmt.as<PrefetchLine>()->index, on_expr);
    case StmtKind::Invoke:
      for (const Expr& arg : stmt.as<Invoke>()->args) visit(arg, on_expr);
      return;
  }
}

Expr substitute(const Expr& expr, const std::string& name, const Expr& value) {
  return Substitution(name, value).rewrite(expr);
}

Stmt substitute(const Stmt& stmt, const std::string& name, const Expr& value) {
  return Substitution(name, value).rewrite(stmt);
}

}  // namespace tulle::loop
