// Reverse mode: statements that compute gradients, from the results back to the operands.
#include <algorithm>
#include <map>

#include "expr/walk.h"
#include "grad/build.h"
#include "grad/contraction.h"
#include "grad/derivative.h"
#include "grad/derived_program.h"
#include "grad/normal_form.h"
#include "grad/shares.h"
#include "grad/statement_rule.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::grad {

using expr::Access;
using expr::Expr;
using expr::Statement;

namespace {

using Indices = std::vector<std::string>;

class GradientWriter {
 public:
  GradientWriter(const expr::ResolvedProgram& normal, Names& names, const GradientRequest& request)
      : program_(normal, names), request_(request) {}

  DerivativeStatements write() {
    find_active();
    for (const std::string& result : program_.normal().results) {
      if (!request_.seeds.contains(result) || !active_.contains(result)) continue;
      gradients_[result] = program_.add_operand(DerivativeRole::Gradient, result);
      patterns_[gradients_[result]] = pattern_text(result);
    }
    const std::vector<Statement>& statements = program_.normal().statements;
    for (auto statement = statements.rbegin(); statement != statements.rend(); ++statement) {
      pass_through(*statement);
    }
    for (const std::string& operand : request_.wanted) {
      program_.add_result(finished_gradient(operand), operand);
    }
    return program_.finish();
  }

 private:
  // The tensors that wanted operands change.
  void find_active() {
    for (const std::string& operand : request_.wanted) {
      if (program_.is_float(operand)) active_.insert(operand);
    }
    for (const Statement& statement : program_.normal().statements) {
      const std::vector<const Access*> reads = expr::accesses(statement.value);
      const bool is_reached = std::any_of(reads.begin(), reads.end(), [&](const Access* access) {
        return active_.contains(access->tensor);
      });
      if (is_reached && program_.is_float(statement.tensor)) active_.insert(statement.tensor);
    }
  }

  // The name of the gradient of a tensor whose readers are all done; empty if it is 0.
  std::string finished_gradient(const std::string& tensor) {
    if (const auto seed = gradients_.find(tensor); seed != gradients_.end()) return seed->second;
    const auto found = shares_.find(tensor);
    if (found == shares_.end()) return {};
    if (const Access* same = only_share(tensor)) return same->tensor;
    const Indices indices = names_of_dimensions(found->second, program_.names());
    const std::string name = program_.names().fresh(concat("grad_", tensor));
    const Expr part = request_.composites.contains(tensor)
                          ? access(program_.add_operand(DerivativeRole::Part, tensor), indices)
                          : Expr();
    const auto in_pattern = [&](const Expr& value) {
      return part ? within(part, value) : program_.in_pattern(tensor, indices, value);
    };
    const std::vector<Expr> terms = terms_of(found->second, indices, program_.names());
    Expr total;
    for (const Expr& term : terms) {
      Expr value = term;
      if (terms.size() > 1) {
        const std::string partial = program_.names().fresh(concat("part_", name));
        program_.add({partial, indices, in_pattern(term)});
        value = access(partial, indices);
      }
      total = total ? total + value : value;
    }
    program_.add({name, indices, in_pattern(total)});
    patterns_[name] = pattern_text(tensor);
    return name;
  }

  // The gradient of another tensor of the same pattern that is the gradient of this one; null if
  // there is none.
  const Access* only_share(const std::string& tensor) const {
    const std::vector<Share>& shares = shares_.at(tensor);
    const auto* same = shares[0].value.as<Access>();
    const bool is_intermediate =
        program_.is_assigned(tensor) && !request_.composites.contains(tensor);
    if (shares.size() > 1 || !same || !is_intermediate || same->indices != shares[0].indices) {
      return nullptr;
    }
    const auto pattern = patterns_.find(same->tensor);
    const std::string wanted = pattern_text(tensor);
    return wanted == (pattern == patterns_.end() ? "" : pattern->second) ? same : nullptr;
  }

  // The pattern of a tensor, as text; empty if it is dense.
  std::string pattern_text(const std::string& tensor) const {
    Indices indices;
    for (int d = 0; d < program_.type_of(tensor).format.rank(); ++d) {
      indices.push_back(std::to_string(d));
    }
    const Expr pattern = program_.pattern(tensor, indices);
    return pattern ? expr::to_string(pattern) : "";
  }

  // Adds the shares of a statement to the gradients of the tensors that it reads.
  void pass_through(const Statement& statement) {
    if (!active_.contains(statement.tensor)) return;
    const std::string gradient = finished_gradient(statement.tensor);
    if (gradient.empty()) return;
    const auto is_active = [&](const Access& access) { return active_.contains(access.tensor); };
    const StatementRule rule =
        rule_of(statement, program_.is_sparse(statement.tensor), is_active, program_.names());
    for (const Statement& needed : rule.needed) program_.add(needed);
    Expr arriving = access(gradient, statement.indices);
    if (rule.softmax && !rule.partials.empty()) {
      arriving = through_softmax(statement, *rule.softmax, arriving);
    }
    for (const Partial& partial : rule.partials) {
      if (mutant("last-use-dropped") && &partial == &rule.partials.back()) break;
      shares_[partial.leaf->tensor].push_back(
          {partial.leaf->indices, share_of(statement, partial, arriving)});
    }
  }

  // The gradient of the body of a softmax.
  Expr through_softmax(const Statement& statement, const expr::Softmax& softmax,
                       const Expr& arriving) {
    const Expr value = access(statement.tensor, statement.indices);
    const Indices row = minus(statement.indices, {softmax.index});
    const std::string total = program_.names().fresh(concat("row_", statement.tensor));
    const bool is_log = softmax.is_log && !mutant("log-softmax-as-softmax");
    const Expr term = is_log ? arriving : arriving * value;
    program_.add({total, row, sum({softmax.index}, term)});
    const Expr of_row = mutant("row-of-softmax-dropped") ? number(0) : access(total, row);
    const Expr body = is_log ? arriving - apply(expr::ElementFunction::Exp, value) * of_row
                             : value * (arriving - of_row);
    const std::string name = program_.names().fresh(concat("grad_body_", statement.tensor));
    program_.add(
        {name, statement.indices, program_.in_pattern(statement.tensor, statement.indices, body)});
    patterns_[name] = pattern_text(statement.tensor);
    return access(name, statement.indices);
  }

  // The share of one use of a tensor: the arriving gradient times the partial derivative, summed
  // over the indices that the use does not have.
  Expr share_of(const Statement& statement, const Partial& partial, const Expr& arriving) {
    Indices summed = statement.indices;
    summed.insert(summed.end(), partial.summed.begin(), partial.summed.end());
    Quotient quotient{{arriving}, partial.divisors};
    quotient.factors.insert(quotient.factors.end(), partial.factors.begin(), partial.factors.end());
    const Expr share =
        contracted(statement, quotient, minus(summed, partial.leaf->indices), extents_);
    for (const Statement& computed : extents_.take_statements()) program_.add(computed);
    return share;
  }

  DerivedProgram program_;
  Extents extents_{program_.names()};
  const GradientRequest& request_;
  std::set<std::string> active_;
  std::map<std::string, std::string> gradients_;  // of results, by tensor
  std::map<std::string, std::vector<Share>> shares_;
  std::map<std::string, std::string> patterns_;  // of gradients; empty: dense
};

}  // namespace

DerivativeStatements gradient(const expr::ResolvedProgram& program,
                              const GradientRequest& request) {
  Names names(program);
  const expr::ResolvedProgram normal = normal_form(program, names);
  return GradientWriter(normal, names, request).write();
}

}  // namespace tulle::grad
