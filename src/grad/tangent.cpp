// Forward mode: statements that compute tangents, in the order of the program.
#include <map>

#include "expr/walk.h"
#include "grad/build.h"
#include "grad/contraction.h"
#include "grad/derivative.h"
#include "grad/derived_program.h"
#include "grad/normal_form.h"
#include "grad/statement_rule.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::grad {

using expr::Access;
using expr::Expr;
using expr::Statement;

namespace {

class TangentWriter {
 public:
  TangentWriter(const expr::ResolvedProgram& normal, Names& names,
                const std::set<std::string>& moved)
      : program_(normal, names), moved_(moved) {}

  DerivativeStatements write() {
    for (const std::string& operand : program_.normal().operands) {
      if (!moved_.contains(operand) || !program_.is_float(operand)) continue;
      tangents_[operand] = program_.add_operand(DerivativeRole::Tangent, operand);
    }
    for (const Statement& statement : program_.normal().statements) pass_through(statement);
    for (const std::string& result : program_.normal().results) {
      const auto found = tangents_.find(result);
      program_.add_result(found == tangents_.end() ? "" : found->second, result);
    }
    return program_.finish();
  }

 private:
  void pass_through(const Statement& statement) {
    if (!program_.is_float(statement.tensor)) return;
    const auto is_active = [&](const Access& access) { return tangents_.contains(access.tensor); };
    const StatementRule rule =
        rule_of(statement, program_.is_sparse(statement.tensor), is_active, program_.names());
    if (rule.partials.empty()) return;
    for (const Statement& needed : rule.needed) program_.add(needed);
    Expr total;
    for (const Partial& partial : rule.partials) {
      const Expr value = change_by(statement, partial);
      total = total ? total + value : value;
    }
    if (rule.softmax) total = through_softmax(statement, *rule.softmax, total);
    tangents_[statement.tensor] = add(concat("tangent_", statement.tensor), statement, total);
  }

  // The tangent of one use of a tensor times the partial derivative.
  Expr change_by(const Statement& statement, const Partial& partial) {
    Quotient quotient{partial.factors, partial.divisors};
    quotient.factors.push_back(access(tangents_.at(partial.leaf->tensor), partial.leaf->indices));
    const Expr change = contracted(statement, quotient, partial.summed, extents_);
    for (const Statement& computed : extents_.take_statements()) program_.add(computed);
    return change;
  }

  // The tangent of a softmax whose body has the tangent `body`.
  Expr through_softmax(const Statement& statement, const expr::Softmax& softmax, const Expr& body) {
    const Expr value = access(statement.tensor, statement.indices);
    const Expr weights = softmax.is_log ? apply(expr::ElementFunction::Exp, value) : value;
    const Expr change =
        access(add(concat("tangent_body_", statement.tensor), statement, body), statement.indices);
    const std::vector<std::string> row = minus(statement.indices, {softmax.index});
    const std::string total = program_.names().fresh(concat("row_", statement.tensor));
    program_.add({total, row,
                  sum({softmax.index},
                      program_.in_pattern(statement.tensor, statement.indices, weights * change))});
    const Expr difference = mutant("tangent-of-row-dropped") ? change : change - access(total, row);
    const bool is_log = softmax.is_log && !mutant("tangent-of-log-softmax");
    return is_log ? difference : value * difference;
  }

  // Assigns the value within the pattern of the statement's tensor.
  std::string add(const std::string& wish, const Statement& statement, const Expr& value) {
    const std::string name = program_.names().fresh(wish);
    program_.add(
        {name, statement.indices, program_.in_pattern(statement.tensor, statement.indices, value)});
    return name;
  }

  DerivedProgram program_;
  Extents extents_{program_.names()};
  const std::set<std::string>& moved_;
  std::map<std::string, std::string> tangents_;  // by tensor
};

}  // namespace

DerivativeStatements tangent(const expr::ResolvedProgram& program,
                             const std::set<std::string>& moved) {
  Names names(program);
  const expr::ResolvedProgram normal = normal_form(program, names);
  return TangentWriter(normal, names, moved).write();
}

}  // namespace tulle::grad
