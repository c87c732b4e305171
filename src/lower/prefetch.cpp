// Looking ahead: rows of an operand that coming entries will gather.
#include "lower/kernel_lowering.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

constexpr int64_t kCacheLine = 64;  // bytes
constexpr int kSecondLevel = 2;     // fetching further in would evict what is in use

}  // namespace

void KernelLowering::emit_prefetches(const Cursor& cursor, const Expr& position,
                                     const std::string& var, const Scope& scope, Emitter& out) {
  const LevelCode& level = level_code(cursor);
  const bool last_level =
      cursor.level + 1 == static_cast<int>(code(cursor.access->tensor).levels.size());
  if (!level.coordinates() || !last_level) return;
  for (const nest::Prefetch& prefetch : nest_.prefetches) {
    for (const auto& [id, other] : scope.cursors) {
      const auto& levels = tensors_.at(other.access->tensor).levels;
      if (other.access->tensor != prefetch.tensor || other.level != 0 || levels.empty() ||
          !levels[0]->is_full())
        continue;
      if (!coordinates_.is_level_variable(this->level(other).expr, other.access->indices, var))
        continue;
      // The entry ahead, or the last one stored.
      const Expr last = loop::Var::make(count_name(cursor.access->tensor)) - 1;
      const Expr ahead =
          out.let("ahead", level.coordinate(loop::minimum(position + prefetch.distance, last), {}));
      Expr width = IntConst::make(1);
      for (size_t l = 1; l < levels.size(); ++l) {
        const Level& below = nest_.tensor(prefetch.tensor).type.format.levels()[l];
        width = width * coordinates_.level_extent(below.expr, other.access->indices);
      }
      const int64_t line = kCacheLine / size_of(nest_.tensor(prefetch.tensor).type.type);
      const Expr base = out.let("base", levels[0]->locate(IntConst::make(0), ahead) * width);
      const std::string variable = names_.fresh("line");
      const loop::Stmt fetch = loop::Prefetch::make(
          code(prefetch.tensor).values, base + loop::Var::make(variable) * line, kSecondLevel);
      const Expr lines = loop::ceil_divide(width, line);
      const bool constant = lines.as<loop::IntConst>() && lines.as<loop::IntConst>()->value <= 32;
      out.add(loop::For::make(variable, IntConst::make(0), lines, fetch,
                              constant ? loop::LoopKind::Unrolled : loop::LoopKind::Serial));
      break;
    }
  }
}

}  // namespace tulle::lower
