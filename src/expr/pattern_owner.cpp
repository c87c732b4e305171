// Patterns of results.
#include "expr/pattern_owner.h"

#include <algorithm>
#include <vector>

#include "expr/absence.h"

namespace tulle::expr {

bool is_present_like(const Expr& value, const Access& access, const IsSparse& is_sparse) {
  const auto is_same = [&](const Access& other) {
    return other.tensor == access.tensor && other.indices == access.indices;
  };
  const Expr alone = without(
      value, [&](const Access& other) { return !is_same(other) && is_sparse(other.tensor); });
  return !is_absent(alone) && is_absent(without(value, is_same));
}

namespace {

class OwnerFinder {
 public:
  explicit OwnerFinder(const ResolvedProgram& program) : program_(program) {}

  std::string owner_of(const std::string& tensor) const {
    const TensorType& type = program_.tensors.at(tensor);
    const Statement* statement = statement_of(tensor);
    if (!statement || type.format.is_dense() || !statement->adds_to.empty()) return {};
    for (const Access* access : accesses(statement->value)) {
      if (!is_sparse(access->tensor) || !is_stored_alike(*access, *statement)) continue;
      if (!is_present_like(statement->value, *access, asks_sparse())) continue;
      const std::string owner = operand_like(access->tensor);
      if (!owner.empty()) return owner;
    }
    return {};
  }

 private:
  const Statement* statement_of(const std::string& tensor) const {
    const auto found = std::find_if(program_.statements.begin(), program_.statements.end(),
                                    [&](const Statement& one) { return one.tensor == tensor; });
    return found == program_.statements.end() ? nullptr : &*found;
  }

  bool is_sparse(const std::string& tensor) const {
    return !program_.tensors.at(tensor).format.is_dense();
  }
  IsSparse asks_sparse() const {
    return [this](const std::string& tensor) { return is_sparse(tensor); };
  }

  std::string operand_like(const std::string& tensor) const {
    if (statement_of(tensor)) return owner_of(tensor);
    const std::string& like = program_.tensors.at(tensor).like;
    return like.empty() ? tensor : like;
  }

  // Whether equal entries of both tensors are stored in the same order of the same dimensions.
  bool is_stored_alike(const Access& access, const Statement& statement) const {
    const TensorType& from = program_.tensors.at(access.tensor);
    const TensorType& to = program_.tensors.at(statement.tensor);
    return access.indices == statement.indices && from.format == to.format &&
           from.index_type == to.index_type && from.format.is_unique() && from.format.is_ordered();
  }

  const ResolvedProgram& program_;
};

}  // namespace

std::string pattern_owner(const ResolvedProgram& program, const std::string& result) {
  return OwnerFinder(program).owner_of(result);
}

}  // namespace tulle::expr
