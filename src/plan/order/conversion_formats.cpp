// The formats of temporaries.
#include "plan/order/conversion_formats.h"

#include <algorithm>

namespace tulle::plan {

Format coordinates_of(const Format& format, bool ordered, bool unique) {
  std::vector<Level> levels;
  for (const Level& level : format.levels()) {
    const LevelKind kind = levels.empty() ? LevelKind::Compressed : LevelKind::Singleton;
    levels.push_back({level.expr, kind, false, ordered});
  }
  levels.back().unique = unique;
  return {format.dimension_names(), std::move(levels)};
}

Format format_in_order(const expr::Access& access, const Format& format,
                       const std::vector<std::string>& order, const LoopSpace& space,
                       const std::function<bool(const std::string& index)>& dense_first) {
  struct Placed {
    int64_t at;
    LevelExpr expr;
  };
  std::vector<Placed> placed;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    const std::vector<std::string>& parts = space.parts.at(access.indices[d]);
    for (size_t part = 0; part < parts.size(); ++part) {
      LevelExpr level{.dimension = static_cast<int>(d)};
      if (parts.size() == 2) {
        level.part = part == 0 ? LevelExpr::Part::Quotient : LevelExpr::Part::Remainder;
        level.divisor = space.variables.at(parts[part]).factor;
      } else if (const std::string other = space.subtracted(access.indices[d]); !other.empty()) {
        const auto second = std::find(access.indices.begin(), access.indices.end(), other);
        level.part = LevelExpr::Part::Difference;
        level.second = static_cast<int>(second - access.indices.begin());
      }
      placed.push_back({std::find(order.begin(), order.end(), parts[part]) - order.begin(), level});
    }
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.at < b.at; });
  std::vector<Level> levels;
  for (const Placed& one : placed) levels.push_back({one.expr, LevelKind::Compressed, true, true});
  if (levels.size() > 1 && !levels[0].expr.is_difference() &&
      dense_first(access.indices[static_cast<size_t>(levels[0].expr.dimension)])) {
    levels[0].kind = LevelKind::Dense;
  }
  return {format.dimension_names(), std::move(levels)};
}

}  // namespace tulle::plan
