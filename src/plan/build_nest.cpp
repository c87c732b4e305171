// Building nests.
#include "plan/build_nest.h"

#include <algorithm>
#include <functional>

#include "support/check.h"

namespace tulle::plan {

using expr::Access;
using expr::Expr;

namespace {

class Builder {
 public:
  Builder(const OrderProblem& problem, const OrderChoice& choice, nest::Nest& nest)
      : problem_(problem), choice_(choice), nest_(nest) {
    for (const Access* access : expr::accesses(problem.statement->value))
      next_id_ = std::max(next_id_, access->id + 1);
  }

  nest::Stmt build() {
    const expr::Statement& statement = *problem_.statement;
    const auto* sum = statement.value.as<expr::Reduce>();
    nest::Stmt body = assign(statement.tensor, statement.indices, sum != nullptr,
                             sum ? sum->body : statement.value);
    return loops(problem_.outer, body);
  }

 private:
  // Loops over these variables in the chosen order.
  nest::Stmt loops(const std::vector<std::string>& variables, nest::Stmt body) const {
    for (auto var = choice_.order.rbegin(); var != choice_.order.rend(); ++var) {
      if (std::find(variables.begin(), variables.end(), *var) != variables.end())
        body = nest::Forall::make(*var, body);
    }
    return body;
  }

  // The assignment, after the sums inside its value have been gathered in scalars.
  nest::Stmt assign(const std::string& tensor, const std::vector<std::string>& indices,
                    bool accumulate, const Expr& value) {
    struct Gathered {
      std::string name;
      const expr::Reduce* sum;
    };
    std::vector<Gathered> gathered;
    const Expr flat = replace_sums(value, [&](const expr::Reduce& sum) {
      const std::string name = concat(problem_.statement->tensor, "_sum", sums_++);
      gathered.push_back({name, &sum});
      nest::Tensor workspace;
      workspace.role = nest::Tensor::Role::Workspace;
      workspace.type = {sum.type, DType::Int64, Format::dense(0)};
      nest_.tensors[name] = workspace;
      return Access::make(next_id_++, name, {}, sum.type);
    });
    nest::Stmt stmt = nest::Assign::make(tensor, indices, accumulate, flat);
    for (const Gathered& one : gathered) {
      std::vector<std::string> variables;
      for (const std::string& index : one.sum->indices) {
        const auto& parts = problem_.space.parts.at(index);
        variables.insert(variables.end(), parts.begin(), parts.end());
      }
      stmt = nest::Where::make(one.name, stmt,
                               loops(variables, assign(one.name, {}, true, one.sum->body)));
    }
    return stmt;
  }

  static Expr replace_sums(const Expr& expr,
                           const std::function<Expr(const expr::Reduce&)>& replace) {
    if (const auto* sum = expr.as<expr::Reduce>()) return replace(*sum);
    return expr::with_children(expr,
                               [&](const Expr& child) { return replace_sums(child, replace); });
  }

  const OrderProblem& problem_;
  const OrderChoice& choice_;
  nest::Nest& nest_;
  int next_id_ = 0;
  int sums_ = 0;
};

}  // namespace

std::vector<std::string> outermost_sum(const expr::Statement& statement) {
  const auto* sum = statement.value.as<expr::Reduce>();
  return sum ? sum->indices : std::vector<std::string>();
}

Expr redirect(const Expr& expr, const std::map<int, std::string>& tensors) {
  if (const auto* access = expr.as<Access>()) {
    const auto found = tensors.find(access->id);
    return found == tensors.end()
               ? expr
               : Access::make(access->id, found->second, access->indices, expr.type());
  }
  return expr::with_children(expr, [&](const Expr& child) { return redirect(child, tensors); });
}

nest::Nest build_nest(const OrderProblem& problem, const OrderChoice& choice,
                      const std::map<std::string, int64_t>& known_extents,
                      const expr::TensorType& result) {
  nest::Nest nest;
  nest.variables = problem.space.variables;
  for (const auto& [index, parts] : problem.space.parts) {
    const auto known = known_extents.find(index);
    if (known != known_extents.end()) nest.known_extents.insert(*known);
  }
  for (const Access* access : expr::accesses(problem.statement->value)) {
    nest.tensors[access->tensor].type = problem.tensors->at(access->tensor);
  }
  nest::Tensor& target = nest.tensors[problem.statement->tensor];
  target.role = nest::Tensor::Role::Result;
  target.type = result;
  target.onto = problem.statement->adds_to;
  if (choice.route == Route::Shared) target.shares_pattern_of = choice.shared;
  nest.root = Builder(problem, choice, nest).build();
  return nest;
}

}  // namespace tulle::plan
