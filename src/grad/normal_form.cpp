// Cutting statements.
#include "grad/normal_form.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "expr/presence.h"
#include "expr/rename_indices.h"
#include "expr/walk.h"
#include "grad/build.h"
#include "grad/extents.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::grad {

using expr::Access;
using expr::Binary;
using expr::BinaryOp;
using expr::Choose;
using expr::Expr;
using expr::Reduce;
using expr::Reduction;
using expr::Softmax;
using expr::Statement;
using expr::Unary;

namespace {

using Indices = std::vector<std::string>;
// Expressions that must have a value for the value at hand to count.
using Masks = std::vector<Expr>;

// The actions of a walk over a value.
struct Visitor {
  expr::IsSparse is_sparse;
  std::function<void(const Access&, const Masks&)> access;
  // Replaces a reduction or softmax that is not in its place in normal form.
  std::function<Expr(const Expr&, const Masks&)> cut;
};

// The masks without those that have one of the indices.
Masks without_indices(const Masks& masks, const Indices& bound) {
  Masks kept;
  for (const Expr& mask : masks) {
    if (both(expr::free_indices(mask), bound).empty() || mutant("mask-under-bound-index"))
      kept.push_back(mask);
  }
  return kept;
}

class MaskedWalk {
 public:
  explicit MaskedWalk(const Visitor& visitor) : visitor_(visitor) {}

  // The value of a statement, cut.
  Expr root(const Expr& value) const { return root(value, {}); }

 private:
  Expr root(const Expr& value, const Masks& masks) const {
    const auto* binary = value.as<Binary>();
    if (binary && binary->op == BinaryOp::Within) {
      const Masks inner = with(masks, binary->a);
      const bool is_softmax = binary->b.as<Softmax>() != nullptr;
      return within(walk(binary->a, masks, false),
                    is_softmax ? walk(binary->b, inner, false) : root(binary->b, inner));
    }
    if (value.as<Softmax>()) return inside(value, masks, false);
    const auto* reduce = value.as<Reduce>();
    if (reduce && reduce->op != Reduction::Sum) return inside(value, masks, false);
    return walk(value, masks, true);
  }

  // `linear`: whether the value of the statement is linear in this expression.
  Expr walk(const Expr& value, const Masks& masks, bool linear) const {
    if (const auto* access = value.as<Access>()) visitor_.access(*access, masks);
    if (const auto* reduce = value.as<Reduce>()) {
      const bool is_sum = reduce->op == Reduction::Sum;
      const Expr walked = inside(value, masks, is_sum);
      return is_sum && linear ? walked : visitor_.cut(walked, masks);
    }
    if (value.as<Softmax>()) return visitor_.cut(inside(value, masks, false), masks);
    if (const auto* unary = value.as<Unary>()) {
      linear = linear && unary->function == expr::ElementFunction::Neg;
    }
    if (const auto* choose = value.as<Choose>()) {
      return where(walk(choose->condition, masks, false), walk(choose->yes, masks, linear),
                   walk(choose->no, masks, linear));
    }
    if (const auto* binary = value.as<Binary>()) return walk_binary(*binary, masks, linear);
    return expr::with_children(value,
                               [&](const Expr& child) { return walk(child, masks, linear); });
  }

  Expr walk_binary(const Binary& binary, const Masks& masks, bool linear) const {
    Binary walked = binary;
    switch (binary.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
        walked.a = walk(binary.a, masks, linear);
        walked.b = walk(binary.b, masks, linear);
        break;
      case BinaryOp::Mul:
        walked.a = walk(binary.a, with(masks, binary.b), linear);
        walked.b = walk(binary.b, with(masks, binary.a), linear);
        break;
      case BinaryOp::Div:
        walked.a = walk(binary.a, masks, linear);
        walked.b = walk(binary.b, with(masks, binary.a), false);
        break;
      case BinaryOp::Max:
      case BinaryOp::Min:
        walked.a = walk(binary.a, masks, false);
        walked.b = walk(binary.b, masks, false);
        break;
      case BinaryOp::Within:
        walked.a = walk(binary.a, masks, false);
        walked.b = walk(binary.b, with(masks, binary.a), linear);
        break;
    }
    return std::make_shared<const Binary>(std::move(walked));
  }

  // The reduction or softmax with its body walked.
  Expr inside(const Expr& value, const Masks& masks, bool linear) const {
    const auto* reduce = value.as<Reduce>();
    const Indices bound = reduce ? reduce->indices : Indices{value.as<Softmax>()->index};
    const Masks kept = without_indices(masks, bound);
    return expr::with_children(value, [&](const Expr& child) { return walk(child, kept, linear); });
  }

  Masks with(const Masks& masks, const Expr& mask) const {
    if (expr::has_reduction(mask) || expr::is_everywhere(mask, visitor_.is_sparse)) return masks;
    Masks more = masks;
    more.push_back(expr::presence_of(mask, visitor_.is_sparse));
    return more;
  }

  const Visitor& visitor_;
};

// within(mask, value) for each mask that has no further indices, each mask once.
Expr masked(const Expr& value, const Indices& indices, const Masks& masks) {
  Expr result = value;
  std::set<std::string> seen;
  for (const Expr& mask : masks) {
    if (!contains_all(indices, expr::free_indices(mask))) continue;
    if (seen.insert(expr::to_string(mask)).second) result = within(mask, result);
  }
  return result;
}

class Normaliser {
 public:
  Normaliser(const expr::ResolvedProgram& program, Names& names)
      : program_(program), names_(names) {}

  expr::ResolvedProgram run() {
    std::vector<Statement> statements = program_.statements;
    for (Statement& statement : statements) {
      std::set<std::string> bound(statement.indices.begin(), statement.indices.end());
      statement.value = with_own_indices(statement.value, bound);
    }
    for (size_t at = statements.size(); at-- > 0;) mask_intermediate(statements, at);
    for (const Statement& statement : statements) add_cut(statement);
    return resolved(cut_);
  }

 private:
  // The value with another name for each bound index that is bound elsewhere in the statement.
  Expr with_own_indices(const Expr& value, std::set<std::string>& bound) {
    const auto* reduce = value.as<Reduce>();
    if (!reduce) {
      return expr::with_children(value,
                                 [&](const Expr& child) { return with_own_indices(child, bound); });
    }
    expr::Renames renames;
    for (const std::string& index : reduce->indices) {
      if (!bound.insert(index).second && !mutant("bound-indices-shared"))
        renames[index] = names_.fresh(index);
    }
    const Expr renamed = renames.empty() ? value : expr::renamed_indices(value, renames);
    return expr::with_children(renamed,
                               [&](const Expr& child) { return with_own_indices(child, bound); });
  }

  bool is_sparse(const std::string& tensor) const {
    return !program_.tensors.at(tensor).format.is_dense();
  }
  expr::IsSparse asks_sparse() const {
    return [this](const std::string& tensor) { return is_sparse(tensor); };
  }

  // Computes a dense intermediate within the mask that all its uses have.
  void mask_intermediate(std::vector<Statement>& statements, size_t at) const {
    Statement& statement = statements[at];
    const bool is_result = contains(program_.results, statement.tensor);
    if (is_result || is_sparse(statement.tensor) || statement.indices.size() < 2) return;
    std::optional<std::map<std::string, Expr>> common;  // masks by text
    const auto note_use = [&](const Access& access, const Masks& masks) {
      if (access.tensor != statement.tensor) return;
      std::map<std::string, Expr> found = masks_of_use(access, masks, statement, statements, at);
      if (common && !mutant("masks-of-first-use"))
        std::erase_if(*common, [&](const auto& one) { return !found.contains(one.first); });
      if (!common) common = std::move(found);
    };
    const Visitor visitor{asks_sparse(), note_use,
                          [](const Expr& value, const Masks&) { return value; }};
    for (size_t later = at + 1; later < statements.size(); ++later) {
      MaskedWalk(visitor).root(statements[later].value);
    }
    if (!common) return;
    for (const auto& [text, mask] : *common) statement.value = within(mask, statement.value);
  }

  // The masks of a use, in the indices of the statement that computes the intermediate.
  std::map<std::string, Expr> masks_of_use(const Access& access, const Masks& masks,
                                           const Statement& statement,
                                           const std::vector<Statement>& statements,
                                           size_t at) const {
    expr::Renames renames;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      renames[access.indices[d]] = statement.indices[d];
    }
    std::map<std::string, Expr> found;
    if (renames.size() != access.indices.size()) return found;  // a diagonal
    const auto is_before = [&](const std::string& tensor) {
      const auto known = std::find_if(statements.begin(), statements.end(),
                                      [&](const Statement& one) { return one.tensor == tensor; });
      return known == statements.end() || known < statements.begin() + static_cast<long>(at);
    };
    for (const Expr& mask : masks) {
      const std::vector<const Access*> reads = expr::accesses(mask);
      const bool is_known = std::all_of(
          reads.begin(), reads.end(), [&](const Access* read) { return is_before(read->tensor); });
      if (!is_known || !contains_all(access.indices, expr::free_indices(mask))) continue;
      const Expr renamed = expr::renamed_indices(mask, renames);
      found.emplace(expr::to_string(renamed), renamed);
    }
    return found;
  }

  void add_cut(const Statement& statement) {
    std::map<std::string, Expr> done;  // the replacements in this statement, by text
    const auto cut = [&](const Expr& value, const Masks& masks) {
      const Indices indices = expr::free_indices(value);
      // A mask would take terms from the sum of a softmax.
      const bool gets_masks = !value.as<Softmax>() || mutant("softmax-masked");
      const Expr body = gets_masks ? masked(value, indices, masks) : value;
      Expr& replacement = done[expr::to_string(body)];
      if (!replacement) {
        const std::string name = names_.fresh(concat(statement.tensor, "_inner"));
        add_defined({name, indices, body}, statement.value);
        replacement = access(name, indices);
      }
      return replacement;
    };
    const Visitor visitor{asks_known(), [](const Access&, const Masks&) {}, cut};
    Statement changed = statement;
    changed.value = MaskedWalk(visitor).root(statement.value);
    add_defined(changed, statement.value);
  }

  // Adds a statement that was cut out of `source`, and the extents that only `source` defines.
  void add_defined(Statement statement, const Expr& source) {
    Extents extents(names_);
    statement.value = extents.defined(statement.value, source);
    for (const Statement& computed : extents.take_statements()) add(computed);
    add(statement);
  }

  void add(const Statement& statement) {
    cut_.push_back(statement);
    types_ = resolved(cut_).tensors;
  }

  expr::IsSparse asks_known() const {
    return [this](const std::string& tensor) {
      const auto found = types_.find(tensor);
      const expr::TensorType& type =
          found == types_.end() ? program_.tensors.at(tensor) : found->second;
      return !type.format.is_dense();
    };
  }

  expr::ResolvedProgram resolved(const std::vector<Statement>& statements) const {
    std::map<std::string, expr::TensorType> operands;
    for (const std::string& operand : program_.operands) {
      operands.emplace(operand, program_.tensors.at(operand));
    }
    expr::ResolveOptions options;
    for (const Statement& statement : statements) {
      const auto known = program_.tensors.find(statement.tensor);
      if (known == program_.tensors.end() || !contains(program_.results, statement.tensor))
        continue;
      options.out_formats.emplace(statement.tensor, known->second.format);
    }
    const std::string text = expr::to_string(expr::ParsedProgram{statements});
    return expr::resolve(expr::parse_program(text, expr::Writer::Compiler), operands, options);
  }

  const expr::ResolvedProgram& program_;
  Names& names_;
  std::vector<Statement> cut_;
  std::map<std::string, expr::TensorType> types_;  // of the cut statements
};

}  // namespace

expr::ResolvedProgram normal_form(const expr::ResolvedProgram& program, Names& names) {
  return Normaliser(program, names).run();
}

}  // namespace tulle::grad
