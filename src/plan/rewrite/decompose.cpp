// Distributes statements over the parts of composite operands.
#include "plan/rewrite/decompose.h"

#include <algorithm>
#include <functional>

#include "plan/rewrite/additive.h"
#include "plan/rewrite/split_terms.h"
#include "schedule/distribute.h"
#include "support/check.h"
#include "support/half.h"
#include "support/mutant.h"

namespace tulle::plan {

using expr::Access;
using expr::Expr;
using expr::Statement;

namespace {

constexpr size_t kMergedAtOnce = 3;  // each further operand doubles the code of a merge

// Replaces the tensors of accesses in the expression.
Expr with_tensors(const Expr& expr, const std::function<std::string(const Access&)>& tensor) {
  if (const auto* access = expr.as<Access>()) {
    Access changed = *access;
    changed.tensor = tensor(*access);
    if (changed.tensor == access->tensor) return expr;
    if (changed.place.called.empty()) changed.place.called = concat("'", access->tensor, "'");
    return std::make_shared<const Access>(std::move(changed));
  }
  return expr::with_children(expr, [&](const Expr& child) { return with_tensors(child, tensor); });
}

class Decomposer {
 public:
  Decomposer(const UniqueProgram& program, const Composites& composites)
      : source_(program), composites_(composites), result_(program) {
    result_.program.statements.clear();
    result_.program.extents.clear();
    result_.renamed.clear();
  }

  UniqueProgram run() {
    replace_operands();
    for (size_t s = 0; s < source_.program.statements.size(); ++s) decompose(s);
    return std::move(result_);
  }

 private:
  void replace_operands() {
    std::vector<std::string> operands;
    for (const std::string& operand : source_.program.operands) {
      const auto composite = composites_.find(operand);
      if (composite == composites_.end()) {
        operands.push_back(operand);
        continue;
      }
      result_.program.tensors.erase(operand);
      for (const PartOfOperand& part : composite->second) {
        operands.push_back(part.name);
        result_.program.tensors[part.name] = part.type;
      }
    }
    result_.program.operands = std::move(operands);
    for (auto& [index, uses] : result_.extents) rename(uses);
  }

  // Each part has the extents of the whole operand.
  void rename(std::vector<expr::ExtentUse>& uses) const {
    for (expr::ExtentUse& use : uses) {
      const auto composite = composites_.find(use.tensor);
      if (composite != composites_.end()) use.tensor = composite->second.front().name;
    }
  }

  void push(Statement statement, size_t source) {
    result_.program.statements.push_back(std::move(statement));
    result_.program.extents.push_back(source_.program.extents[source]);
    for (auto& [index, uses] : result_.program.extents.back()) rename(uses);
    result_.renamed.push_back(source_.renamed[source]);
  }

  void decompose(size_t s) {
    Statement statement = source_.program.statements[s];
    const Access* chosen = distributed(statement);
    // Keeps the statement's value alive, because it owns the access.
    const Expr value = statement.value;
    statement.value = with_tensors(value, [&](const Access& access) {
      const bool stays = chosen && same_access(access, *chosen);
      return stays || !composites_.contains(access.tensor) ? access.tensor : whole(access.tensor);
    });
    if (!chosen) {
      push(statement, s);
      return;
    }
    const std::vector<PartOfOperand>& parts = composites_.at(chosen->tensor);
    const expr::Reduction by = reduction_over_parts(value);
    result_.notes.push_back(concat(statement.tensor, " is the ", expr::text_of(by), " over the ",
                                   parts.size(), " parts of ", chosen->tensor));
    const std::string original = statement.tensor;
    expr::TensorType type = result_.program.tensors.at(original);
    const bool rounds = is_half(type.type);  // so round once, after adding up all parts
    const std::string tensor = rounds ? original + ".sum" : original;
    type.type = compute_type(type.type);
    statement.tensor = tensor;
    result_.program.tensors[tensor] = type;
    for (size_t p = 0; p < parts.size(); ++p) {
      if (mutant("decompose-drops-part") && p > 0 && p + 1 == parts.size()) break;
      Statement part = statement;
      part.value = with_tensors(statement.value, [&](const Access& access) {
        return access.tensor == chosen->tensor ? parts[p].name : access.tensor;
      });
      if (p > 0) {
        part.tensor = schedule::part_name(tensor, p);
        part.adds_to = tensor;
        part.adds_by = by;
        result_.program.tensors[part.tensor] = type;
      }
      push(std::move(part), s);
    }
    if (!rounds) return;
    push({original, statement.indices, Access::make(0, tensor, statement.indices, type.type)}, s);
  }

  // The access over whose parts the statement is distributed. Null if there is none.
  const Access* distributed(const Statement& statement) const {
    const bool is_dense = source_.program.tensors.at(statement.tensor).format.is_dense();
    return is_dense ? access_by_parts(statement.value, source_.program, composites_) : nullptr;
  }

  // The intermediate that merges all parts of the operand.
  std::string whole(const std::string& operand) {
    const std::string name = operand + ".whole";
    if (result_.program.tensors.contains(name)) return name;
    const std::vector<PartOfOperand>& parts = composites_.at(operand);
    result_.merged.insert(operand);
    result_.notes.push_back(concat("the ", parts.size(), " parts of ", operand,
                                   " are put together first (general path)"));
    std::vector<std::string> names;
    for (const PartOfOperand& part : parts) names.push_back(part.name);
    expr::TensorType type = parts.front().type;
    type.format = source_.program.tensors.at(operand).format;
    int round = 0;
    while (names.size() > kMergedAtOnce) {
      std::vector<std::string> fewer;
      for (size_t at = 0; at < names.size(); at += kMergedAtOnce) {
        const size_t count = std::min(kMergedAtOnce, names.size() - at);
        if (count == 1) {
          fewer.push_back(names[at]);
          continue;
        }
        fewer.push_back(concat(name, round++));
        const auto first = names.begin() + static_cast<int64_t>(at);
        merge({first, first + static_cast<int64_t>(count)}, fewer.back(), type, operand);
      }
      names = std::move(fewer);
    }
    merge(names, name, type, operand);
    return name;
  }

  // Adds statements for target = the sum of the tensors.
  void merge(const std::vector<std::string>& tensors, const std::string& target,
             const expr::TensorType& type, const std::string& operand) {
    std::map<std::string, std::vector<expr::ExtentUse>> extents;
    Statement statement{target, {}, {}};
    for (int d = 0; d < type.format.rank(); ++d) {
      const std::string index = concat(operand, ".whole.", d);
      const std::vector<expr::ExtentUse> uses = {{composites_.at(operand).front().name, d}};
      statement.indices.push_back(index);
      extents[index] = uses;
      result_.extents[index] = uses;
    }
    int id = 0;
    for (const std::string& tensor : tensors) {
      const Expr access = Access::make(id++, tensor, statement.indices, type.type);
      statement.value = statement.value ? expr::Binary::make(expr::BinaryOp::Add, statement.value,
                                                             access, compute_type(type.type))
                                        : access;
    }
    result_.program.tensors[target] = type;
    result_.program.statements.push_back(std::move(statement));
    result_.program.extents.push_back(std::move(extents));
    result_.renamed.emplace_back();
  }

  const UniqueProgram& source_;
  const Composites& composites_;
  UniqueProgram result_;
};

}  // namespace

UniqueProgram decompose(const UniqueProgram& program, const Composites& composites) {
  if (composites.empty()) return program;
  const UniqueProgram split = split_terms(program, composites);
  return Decomposer(split, composites).run();
}

}  // namespace tulle::plan
