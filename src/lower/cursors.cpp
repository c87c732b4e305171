// Runs of positions below a cursor.
#include "lower/cursors.h"

#include "lower/levels/search.h"
#include "nest/number_accesses.h"

namespace tulle::lower {

using loop::Expr;

namespace {

// The positions below the parent's, or none where the condition is false.
Positions positions_if(const Expr& condition, const LevelCode& level, const Positions& parent,
                       const Expr& above, Emitter& out) {
  Emitter inside = out.nested();
  const Positions found = level.positions(inside, parent, above);
  const auto value_of = [&](const std::string& name, const Expr& value) {
    const Expr variable = out.declare(name, loop::IntConst::make(0));
    inside.assign(variable, value);
    return variable;
  };
  Positions run{value_of("p", found.begin), value_of("p_end", found.end), {}};
  if (found.base) run.base = value_of("p_base", found.base);
  out.add(loop::If::make(condition, inside.take()));
  return run;
}

}  // namespace

Positions run_of(const KernelContext& kernel, const Cursor& cursor, const KernelScope& scope,
                 Emitter& out) {
  const auto piece = scope.entries.of_chunk.find(cursor.access->tensor);
  if (piece != scope.entries.of_chunk.end() && cursor.level == 1) return piece->second;
  const Level& level = kernel.level(cursor);
  Expr above;
  if (is_bounded(level.kind)) {
    for (const Level& outer : kernel.nest.tensor(cursor.access->tensor).type.format.levels()) {
      if (!outer.expr.is_difference() || outer.expr.second != level.expr.dimension) continue;
      above = kernel.coordinates.level_coordinate(outer.expr, cursor.access->indices,
                                                  scope.coordinates);
    }
  }
  const LevelCode& code = kernel.level_code(cursor);
  const auto here = scope.here.find(cursor.access->id);
  if (here == scope.here.end()) return code.positions(out, cursor.at, above);
  return positions_if(here->second, code, cursor.at, above, out);
}

Expr run_end(const KernelContext& kernel, const Cursor& cursor, const Expr& begin,
             const Positions& run, const Expr& coordinate, Emitter& out) {
  // Merged slots of an unordered level above may not ascend.
  const bool ascends = kernel.nest.tensor(cursor.access->tensor).type.format.is_ordered();
  const LevelCode& level = kernel.level_code(cursor);
  return kernel.on_gpu() && ascends ? emit_segment_end_by_halves(out, level, begin, run, coordinate)
                                    : emit_segment_end(out, level, begin, run, coordinate);
}

bool visits_all_of_result(const KernelContext& kernel, const Cursor& cursor) {
  const auto& levels = kernel.code(cursor.access->tensor).levels;
  const bool last = cursor.level + 1 == static_cast<int>(levels.size());
  // The first of several entries with equal coordinates stores their sum.
  return !kernel.assembles() &&
         nest::has_structure_of(kernel.nest, kernel.nest.tensor(kernel.result),
                                cursor.access->tensor) &&
         (!last || levels[static_cast<size_t>(cursor.level)]->is_unique());
}

}  // namespace tulle::lower
