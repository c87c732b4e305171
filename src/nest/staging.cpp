// Recognises staged workspaces.
#include "nest/staging.h"

namespace tulle::nest {

bool is_staging(const Where& where, const Nest& nest) {
  return nest.tensor(where.workspaces.front()).staging != Tensor::Staging::None;
}

Stmt without_staging(const Stmt& stmt, const Nest& nest) {
  const auto* where = stmt.as<Where>();
  return where && is_staging(*where, nest) ? without_staging(where->consumer, nest) : stmt;
}

}  // namespace tulle::nest
