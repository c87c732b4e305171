// Describes formats.
#include "format/composite.h"
#include "tulle/tulle.h"

namespace tulle {

FormatInfo describe_format(std::string_view text, int rank) {
  if (CompositeFormat::is_composite(text)) {
    const CompositeFormat composite = CompositeFormat::parse(text, rank);
    FormatInfo info{composite.to_string(), composite.name(), {}, {}};
    info.sorted = Format::coo(rank, composite.order()).name();
    for (const CompositeFormat::Part& part : composite.parts()) {
      info.parts.push_back({CompositeFormat::describe(part), part.format.name()});
    }
    return info;
  }
  const Format format = Format::parse(text, rank);
  FormatInfo info{format.to_string(), format.name(), {}, {}};
  for (const Level& level : format.levels()) {
    constexpr char kParts[] = {'w', 'q', 'r', 'd'};
    LevelInfo described;
    described.pos = stores_positions(level.kind);
    described.crd = stores_coordinates(level.kind);
    described.bits = stores_marks(level.kind);
    described.full = is_full(level.kind);
    described.direct = is_direct(level.kind);
    described.unused = level.has_unused();
    described.width = level.width;
    described.dimension = level.expr.dimension;
    described.part = kParts[static_cast<size_t>(level.expr.part)];
    described.divisor = level.expr.divisor;
    described.second = level.expr.second;
    info.levels.push_back(described);
  }
  return info;
}

}  // namespace tulle
