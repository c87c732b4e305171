// Numbers accesses.
#include "nest/number_accesses.h"

#include <map>
#include <utility>

namespace tulle::nest {

namespace {

class Numbering {
 public:
  explicit Numbering(const Nest& nest) : nest_(nest) {}

  Stmt stmt(const Stmt& stmt) {
    if (const auto* forall = stmt.as<Forall>())
      return Forall::make(forall->var, this->stmt(forall->body), forall->tag);
    if (const auto* where = stmt.as<Where>()) {
      Stmt consumer = this->stmt(where->consumer);
      return Where::make(where->workspaces, std::move(consumer), this->stmt(where->producer));
    }
    if (const auto* sequence = stmt.as<Sequence>()) {
      std::vector<Stmt> stmts;
      stmts.reserve(sequence->stmts.size());
      for (const Stmt& part : sequence->stmts) stmts.push_back(this->stmt(part));
      return Sequence::make(std::move(stmts));
    }
    const auto* assign = stmt.as<Assign>();
    return Assign::make(assign->tensor, assign->indices, assign->accumulate, expr(assign->value));
  }

 private:
  expr::Expr expr(const expr::Expr& value) {
    if (const auto* access = value.as<expr::Access>()) {
      const int next = static_cast<int>(ids_.size());
      expr::Access numbered = *access;
      numbered.id = ids_.try_emplace({structure_of(nest_, access->tensor), access->indices}, next)
                        .first->second;
      return std::make_shared<const expr::Access>(std::move(numbered));
    }
    return expr::with_children(value, [&](const expr::Expr& child) { return expr(child); });
  }

  const Nest& nest_;
  std::map<std::pair<std::string, std::vector<std::string>>, int> ids_;
};

}  // namespace

std::string structure_of(const Nest& nest, const std::string& tensor) {
  const auto known = nest.tensors.find(tensor);
  const bool is_alike = known != nest.tensors.end() &&
                        known->second.role == Tensor::Role::Operand &&
                        !known->second.shares_pattern_of.empty();
  return is_alike ? known->second.shares_pattern_of : tensor;
}

bool has_structure_of(const Nest& nest, const Tensor& result, const std::string& operand) {
  const std::string& shared = result.shares_pattern_of;
  return !shared.empty() && structure_of(nest, shared) == structure_of(nest, operand);
}

Nest with_numbered_accesses(const Nest& nest) {
  Nest numbered = nest;
  numbered.root = Numbering(nest).stmt(nest.root);
  return numbered;
}

}  // namespace tulle::nest
