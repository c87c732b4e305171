// Binds the intermediate values of functions to names, before the statements that use them.
#include "passes/expand_functions.h"

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "passes/function_math.h"

namespace tulle::passes {

using namespace loop;

namespace {

class FunctionExpansion : public Rewriter {
 public:
  FunctionExpansion(FreshNames& names, Backend backend) : names_(names), backend_(backend) {}

  Expr rewrite(const Expr& expr) override {
    const Expr inside = Rewriter::rewrite(expr);
    const auto* call = inside.as<Call>();
    if (!call || !binding_ || call->args.size() != 1) return inside;
    const Binder bind = [&](const std::string& wish, const Expr& value) -> Expr {
      if (value.as<Var>() || value.as<FloatConst>()) return value;
      const std::string name = names_.fresh(wish);
      before_.push_back(Let::make(name, value));
      return Var::make(name, value.type());
    };
    const size_t mark = before_.size();
    const Expr result = write_out(call->function, bind("x", call->args[0]), bind, backend_);
    if (result) return result;
    before_.resize(mark);
    return inside;
  }

  Stmt rewrite(const Stmt& stmt) override {
    std::vector<Stmt> stmts = with_names(stmt);
    return stmts.size() == 1 ? stmts[0] : Block::make(std::move(stmts));
  }

 private:
  // The statement, preceded by the lets of the values that it uses. All of them share one block,
  // because the statement may itself bind a name for later statements.
  std::vector<Stmt> with_names(const Stmt& stmt) {
    if (const auto* block = stmt.as<Block>()) {
      std::vector<Stmt> stmts;
      for (const Stmt& part : block->stmts) {
        for (Stmt& one : with_names(part)) stmts.push_back(std::move(one));
      }
      const bool same = stmts.size() == block->stmts.size() &&
                        std::equal(stmts.begin(), stmts.end(), block->stmts.begin(),
                                   [](const Stmt& a, const Stmt& b) { return a.get() == b.get(); });
      return {same ? stmt : Block::make(std::move(stmts))};
    }
    const bool binds = stmt->kind == StmtKind::Let || stmt->kind == StmtKind::Declare ||
                       stmt->kind == StmtKind::Assign || stmt->kind == StmtKind::Store ||
                       stmt->kind == StmtKind::Atomic;
    if (!binds) return {Rewriter::rewrite(stmt)};
    binding_ = true;
    const Stmt changed = Rewriter::rewrite(stmt);
    binding_ = false;
    std::vector<Stmt> stmts = std::move(before_);
    before_.clear();
    stmts.push_back(changed);
    return stmts;
  }

  FreshNames& names_;
  Backend backend_;
  bool binding_ = false;  // whether lets can precede the enclosing statement
  std::vector<Stmt> before_;
};

}  // namespace

Kernel expand_functions(Kernel kernel, Backend backend) {
  FreshNames names(kernel);
  kernel.body = FunctionExpansion(names, backend).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
