// Choosing names.
#include "grad/names.h"

#include "expr/walk.h"
#include "support/check.h"

namespace tulle::grad {

Names::Names(const expr::ResolvedProgram& program) {
  for (const auto& [name, type] : program.tensors) taken_.insert(name);
  for (const expr::Statement& statement : program.statements) {
    taken_.insert(statement.indices.begin(), statement.indices.end());
    const auto take_indices = [&](const expr::Expr& part) {
      if (const auto* access = part.as<expr::Access>()) {
        taken_.insert(access->indices.begin(), access->indices.end());
      }
      return false;
    };
    expr::any_part(statement.value, take_indices);
  }
}

std::string Names::fresh(const std::string& wish) {
  std::string name = wish;
  for (int number = 1; !taken_.insert(name).second; ++number) name = concat(wish, "_", number);
  return name;
}

}  // namespace tulle::grad
