// Looks for what must be known before the diagonals of an operand are.
#include "schedule/walkable_diagonals.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

class DiagonalVerifier {
 public:
  explicit DiagonalVerifier(const Nest& nest) : nest_(nest) {}

  void walk(const Stmt& stmt) {
    if (const auto* loop = stmt.as<Forall>()) {
      if (nest_.variable(loop->var).origin == Variable::Origin::Difference) check(*loop);
      loops_.push_back(loop->var);
      walk(loop->body);
      loops_.pop_back();
    } else {
      map_parts(stmt, [&](const Stmt& part) {
        walk(part);
        return part;
      });
    }
  }

 private:
  void check(const Forall& loop) const {
    for (const Assign* assign : assigns(loop.body)) {
      for (const expr::Access* access : expr::accesses(assign->value)) check(loop, *access);
    }
  }

  void check(const Forall& loop, const expr::Access& access) const {
    const Variable& variable = nest_.variable(loop.var);
    const auto index = [&](int dimension) -> const std::string& {
      return access.indices[static_cast<size_t>(dimension)];
    };
    Names above;
    for (const Level& level : nest_.tensor(access.tensor).type.format.levels()) {
      if (!level.expr.is_difference()) {
        above.push_back(index(level.expr.dimension));
        continue;
      }
      if (index(level.expr.dimension) != variable.parent ||
          index(level.expr.second) != variable.second)
        return;
      for (const std::string& outer : above) {
        if (nest_.determines(loops_, outer)) continue;
        user_error("The loop over '", loop.var, "' goes through the diagonals that '",
                   access.tensor, "' stores for one '", outer,
                   "', and stands outside the loop over it; put that outside.");
      }
      return;
    }
  }

  using Names = std::vector<std::string>;

  const Nest& nest_;
  Names loops_;
};

}  // namespace

void require_walkable_diagonals(const Nest& nest) { DiagonalVerifier(nest).walk(nest.root); }

}  // namespace tulle::schedule
