// Which class serves which kind.
#include "lower/levels/level_code.h"

#include "lower/levels/compressed.h"
#include "lower/levels/dense.h"
#include "lower/levels/singleton.h"
#include "support/check.h"

namespace tulle::lower {

loop::Expr LevelCode::locate(const loop::Expr&, const loop::Expr&) const {
  internal_error("a level that is not full is searched, not located");
}

std::unique_ptr<LevelCode> make_level_code(const Level& level, const LevelArrays& arrays) {
  switch (level.kind) {
    case LevelKind::Dense:
      return std::make_unique<DenseLevel>(arrays.extent);
    case LevelKind::Compressed:
      return std::make_unique<CompressedLevel>(level, arrays);
    case LevelKind::Singleton:
      return std::make_unique<SingletonLevel>(level, arrays);
  }
  internal_error("a level of unknown kind");
}

}  // namespace tulle::lower
