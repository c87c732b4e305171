// Finds reductions to compute part by part.
#include "plan/rewrite/split_terms.h"

#include <algorithm>
#include <functional>

#include "expr/walk.h"
#include "plan/rewrite/additive.h"
#include "plan/rewrite/computed_before.h"
#include "plan/rewrite/expand_reductions.h"
#include "plan/rewrite/gathering.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Access;
using expr::Expr;
using expr::Statement;

namespace {

bool is_within(const std::vector<std::string>& indices, const std::vector<std::string>& all) {
  return std::all_of(indices.begin(), indices.end(), [&](const std::string& index) {
    return std::find(all.begin(), all.end(), index) != all.end();
  });
}

class Splitter {
 public:
  Splitter(const UniqueProgram& program, const Composites& composites)
      : source_(program), composites_(composites), result_(program) {
    result_.program.statements.clear();
    result_.program.extents.clear();
    result_.renamed.clear();
  }

  UniqueProgram run() {
    for (size_t s = 0; s < source_.program.statements.size(); ++s) {
      Statement statement = source_.program.statements[s];
      const bool is_dense = source_.program.tensors.at(statement.tensor).format.is_dense();
      if (is_dense && !is_by_parts(statement.value)) {
        next_id_ = expr::next_access_id(statement.value);
        computed_ = {};
        statement.value = split(statement.value, statement, s);
      }
      push(std::move(statement), s);
    }
    return std::move(result_);
  }

 private:
  bool is_by_parts(const Expr& value) const {
    return access_by_parts(value, source_.program, composites_) != nullptr;
  }

  void push(Statement statement, size_t source) {
    result_.program.statements.push_back(std::move(statement));
    result_.program.extents.push_back(source_.program.extents[source]);
    result_.renamed.push_back(source_.renamed[source]);
  }

  Expr split(const Expr& expr, const Statement& statement, size_t source) {
    if (expr.as<expr::Reduce>()) return reduced(expr, statement, source);
    const auto* binary = expr.as<expr::Binary>();
    const bool adds = binary && (binary->op == expr::BinaryOp::Add ||  //
                                 binary->op == expr::BinaryOp::Sub);
    const auto* unary = expr.as<expr::Unary>();
    const bool of_entries = unary && is_of_entries(unary->function);
    if (!adds && (!unary || of_entries)) return expr;
    return expr::with_children(expr,
                               [&](const Expr& child) { return split(child, statement, source); });
  }

  // Replaces the reduction by a tensor if it can be computed part by part. If its expansion
  // consists of such reductions, replaces these inside the expansion.
  Expr reduced(const Expr& reduce, const Statement& statement, size_t source) {
    if (is_by_parts(reduce)) return term(reduce, statement, source);
    const auto is_sparse = [&](const std::string& tensor) {
      return !source_.program.tensors.at(tensor).format.is_dense();
    };
    const Statement alone{statement.tensor, expr::free_indices(reduce), reduce};
    const Expr written_out = expand_reductions(alone, is_sparse, true).value;
    const std::vector<const expr::Reduce*> all = topmost_reductions(written_out);
    const bool by_parts = std::all_of(all.begin(), all.end(), [&](const expr::Reduce* one) {
      return is_by_parts(std::make_shared<const expr::Reduce>(*one));
    });
    if (!by_parts || !is_within(alone.indices, statement.indices)) return reduce;
    const std::function<Expr(const Expr&)> cut = [&](const Expr& expr) {
      return expr.as<expr::Reduce>() ? term(expr, statement, source)
                                     : expr::with_children(expr, cut);
    };
    return cut(written_out);
  }

  // The tensor that replaces a reduction.
  Expr term(const Expr& sum, const Statement& statement, size_t source) {
    const std::vector<std::string> indices = expr::free_indices(sum);
    if (!is_within(indices, statement.indices)) return sum;
    if (const Expr known = computed_.find(sum)) return known;
    const std::string name = concat(statement.tensor, ".term", terms_++);
    const expr::TensorType& type = source_.program.tensors.at(statement.tensor);
    const DType accumulated = compute_type(sum.type());
    result_.program.tensors[name] = {accumulated, type.index_type,
                                     Format::dense(static_cast<int>(indices.size()))};
    result_.notes.push_back(
        concat(name, " = ", expr::to_string(sum), " is computed first, part by part"));
    push({name, indices, sum}, source);
    const Expr access = Access::make(next_id_++, name, indices, accumulated);
    computed_.add(sum, access);
    return access;
  }

  const UniqueProgram& source_;
  const Composites& composites_;
  UniqueProgram result_;
  int next_id_ = 0;
  int terms_ = 0;
  ComputedBefore computed_;  // for the current statement
};

}  // namespace

UniqueProgram split_terms(const UniqueProgram& program, const Composites& composites) {
  return Splitter(program, composites).run();
}

}  // namespace tulle::plan
