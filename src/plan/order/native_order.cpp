// Compares the levels of operands with the order of loops.
#include "plan/order/native_order.h"

#include <algorithm>

namespace tulle::plan {

int position_of(const std::vector<std::string>& order, const std::string& var) {
  const auto found = std::find(order.begin(), order.end(), var);
  return found == order.end() ? -1 : static_cast<int>(found - order.begin());
}

bool is_native(const Format& format, const std::vector<std::string>& indices,
               const std::vector<std::string>& order, const LoopSpace& space) {
  if (format.is_dense()) return true;
  int latest = -1;
  for (const Level& level : format.levels()) {
    const std::string var = level_variable(level.expr, indices, space);
    if (is_full(level.kind)) {
      if (var.empty()) {
        const std::string& index = indices[static_cast<size_t>(level.expr.dimension)];
        for (const std::string& part : space.parts.at(index)) {
          latest = std::max(latest, position_of(order, part));
        }
        latest = std::max(latest, position_of(order, space.subtracted(index)));
      } else {
        latest = std::max(latest, position_of(order, var));
      }
      continue;
    }
    if (var.empty()) return false;
    const int at = position_of(order, var);
    if (!stores_coordinates(level.kind)) {
      // A full level is computed by arithmetic, so its place does not matter.
      latest = std::max(latest, at);
      continue;
    }
    if (at < latest) return false;
    latest = at;
  }
  return true;
}

}  // namespace tulle::plan
