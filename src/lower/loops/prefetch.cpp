// Prefetches whole rows.
#include "lower/loops/prefetch.h"

#include "lower/storage.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

constexpr int64_t kCacheLine = 64;     // bytes
constexpr int kSecondLevel = 2;        // the nearer caches would evict data in use
constexpr int64_t kMostUnrolled = 32;  // in cache lines

// The access to the operand whose first level is full and runs along the variable. Null if none.
const expr::Access* gathered_access(const KernelContext& kernel, const std::string& operand,
                                    const std::string& var, const KernelScope& scope) {
  for (const auto& [id, cursor] : scope.cursors) {
    const auto& levels = kernel.code(cursor.access->tensor).levels;
    if (cursor.access->tensor != operand || cursor.level != 0 || levels.empty() ||
        !levels[0]->is_full())
      continue;
    if (kernel.coordinates.is_level_variable(kernel.level(cursor).expr, cursor.access->indices,
                                             var))
      return cursor.access;
  }
  return nullptr;
}

// Prefetches the row at this coordinate of the first level, line by line.
void fetch_row(KernelContext& kernel, const expr::Access& access, const Expr& row, Emitter& out) {
  const TensorCode& tensor = kernel.code(access.tensor);
  const expr::TensorType& type = kernel.nest.tensor(access.tensor).type;
  Expr width = IntConst::make(1);
  for (size_t l = 1; l < tensor.levels.size(); ++l)
    width = width * kernel.coordinates.level_extent(type.format.levels()[l].expr, access.indices);
  const int64_t line = kCacheLine / size_of(type.type);
  const Expr base = out.let("base", tensor.levels[0]->locate(IntConst::make(0), row) * width);
  const std::string variable = kernel.names.fresh("line");
  const loop::Stmt fetch = loop::PrefetchLine::make(
      tensor.values, base + loop::Var::make(variable) * line, kSecondLevel);
  const Expr lines = loop::ceil_divide(width, line);
  const auto* known = lines.as<IntConst>();
  out.add(loop::For::make(
      variable, IntConst::make(0), lines, fetch,
      known && known->value <= kMostUnrolled ? loop::ForKind::Unrolled : loop::ForKind::Serial));
}

// The values of each entry of a level: the product of the extents of the dense levels below. 0 if
// there are other levels below, or unknown extents.
int64_t values_below(const KernelContext& kernel, const Cursor& cursor) {
  const expr::Access& access = *cursor.access;
  const auto& levels = kernel.nest.tensor(access.tensor).type.format.levels();
  int64_t values = 1;
  for (auto l = static_cast<size_t>(cursor.level) + 1; l < levels.size(); ++l) {
    const Expr extent = kernel.coordinates.level_extent(levels[l].expr, access.indices);
    const auto* known = extent.as<IntConst>();
    values *= known && is_full(levels[l].kind) ? known->value : 0;
  }
  return values;
}

}  // namespace

void emit_prefetches(KernelContext& kernel, const Cursor& cursor, const Expr& position,
                     const std::string& var, const KernelScope& scope, Emitter& out) {
  const std::string& operand = cursor.access->tensor;
  const LevelCode& level = kernel.level_code(cursor);
  const int64_t block = values_below(kernel, cursor);
  if (!level.coordinates() || block <= 0) return;
  for (const nest::PrefetchedOperand& prefetch : kernel.nest.prefetches) {
    const expr::Access* gathered = gathered_access(kernel, prefetch.tensor, var, scope);
    if (!gathered) continue;
    // The entry `distance` ahead, or the last stored one.
    const Expr count = loop::Var::make(count_name(operand));
    const Expr entries =
        block == 1 ? count : loop::Binary::make(loop::BinaryOp::Div, count, IntConst::make(block));
    const Expr last = entries - 1;
    const Expr entry = loop::minimum(position + prefetch.distance, last);
    fetch_row(kernel, *gathered, out.let("ahead", level.coordinate(entry, {})), out);
  }
}

}  // namespace tulle::lower
