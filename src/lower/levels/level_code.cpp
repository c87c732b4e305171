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
#define X(name, text, ...) \
  case LevelKind::name:    \
    return std::make_unique<name##Level>(level, arrays);
    TULLE_LEVEL_KINDS(X)
#undef X
  }
  internal_error("a level of unknown kind");
}

}  // namespace tulle::lower
