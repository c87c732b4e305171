// Visitors and rewriters of loop-IR trees.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loop/host.h"

namespace tulle::loop {

// Rebuilds trees bottom-up and returns a node with unchanged children as it is. Override the hooks
// for some nodes and call the base class for their children.
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  virtual Expr rewrite(const Expr& expr);
  virtual Stmt rewrite(const Stmt& stmt);
  // Rewrites a buffer that a node reads, writes or allocates.
  virtual Buffer rewrite_buffer(const Buffer& buffer) { return buffer; }
};

// The operands of an expression, in evaluation order.
std::vector<Expr> children_of(const Expr& expr);
// The statements of a block. For any other statement, the statement itself.
std::vector<Stmt> statements_of(const Stmt& stmt);

// Calls `on_expr` (`on_stmt`) for every node of the tree, parents first.
void visit(const Expr& expr, const std::function<void(const Expr&)>& on_expr);
void visit(const Stmt& stmt, const std::function<void(const Stmt&)>& on_stmt,
           const std::function<void(const Expr&)>& on_expr);

// The tree with every use of the variable `name` replaced.
Expr substitute(const Expr& expr, const std::string& name, const Expr& value);
Stmt substitute(const Stmt& stmt, const std::string& name, const Expr& value);

}  // namespace tulle::loop
