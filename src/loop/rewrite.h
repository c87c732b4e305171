// Walking over and rebuilding loop-IR trees; what is not overridden is handed on unchanged.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loop/host.h"

namespace tulle::loop {

// Rebuilds bottom-up; a node whose children did not change is returned as it is. Override the hooks
// that matter and call the base for the children.
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  virtual Expr rewrite(const Expr& expr);
  virtual Stmt rewrite(const Stmt& stmt);
  // What a node reads, writes or allocates.
  virtual Buffer rewrite_buffer(const Buffer& buffer) { return buffer; }
};

// The operands of an expression, in the order of evaluation.
std::vector<Expr> children_of(const Expr& expr);
// The statements of a block; of any other statement, itself.
std::vector<Stmt> statements_of(const Stmt& stmt);

// Calls `on_expr` (`on_stmt`) for every node below and including the given one, parents first.
void visit(const Expr& expr, const std::function<void(const Expr&)>& on_expr);
void visit(const Stmt& stmt, const std::function<void(const Stmt&)>& on_stmt,
           const std::function<void(const Expr&)>& on_expr);

// The tree with every use of the variable `name` replaced.
Expr substitute(const Expr& expr, const std::string& name, const Expr& value);
Stmt substitute(const Stmt& stmt, const std::string& name, const Expr& value);

}  // namespace tulle::loop
