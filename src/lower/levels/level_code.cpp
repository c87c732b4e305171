// Maps level kinds to classes.
#include "lower/levels/level_code.h"

#include "lower/levels/bitmap.h"
#include "lower/levels/compressed.h"
#include "lower/levels/dense.h"
#include "lower/levels/padded.h"
#include "lower/levels/ragged.h"
#include "lower/levels/range.h"
#include "lower/levels/search.h"
#include "lower/levels/singleton.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

Expr LevelCode::holds(const Expr&) const { return IntConst::make(1, loop::kBool); }

Expr LevelCode::locate(const Expr&, const Expr&) const {
  internal_error("a level that is not direct is searched, not located");
}

LevelCode::Found LevelCode::find(Emitter& out, const Positions& run, const Expr& coordinate) const {
  const Expr at = out.snapshot("at", emit_lower_bound(out, *this, run, coordinate));
  const Expr found = out.declare("found", IntConst::make(0, loop::kBool));
  Emitter look = out.nested();
  look.assign(found, this->coordinate(at, run) == coordinate);
  out.add(loop::If::make(at < run.end, look.take()));
  return {at, found};
}

Expr LevelCode::count(const Expr& position, const Expr&) const { return position + 1; }

Expr LevelCode::slot(const Expr&, const Expr&, const Expr& next, const Expr&) const { return next; }

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
