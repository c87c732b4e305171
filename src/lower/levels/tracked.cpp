// Code of tracked workspaces.
#include "lower/levels/tracked.h"

#include "lower/monoid.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

namespace {

Expr after(const Expr& base, const Expr& offset) { return base ? base + offset : offset; }

}  // namespace

void TrackedLevel::prepare(Emitter& out) const {
  if (arrays_.only_counts()) return;
  if (arrays_.scanned) return list_written(out);
  if (mutant("tracked-unsorted")) return;
  const Expr begin = after(arrays_.list_base, IntConst::make(0));
  out.add(loop::Invoke::make(loop::RuntimeFunction::Sort, arrays_.list,
                             {begin, begin + arrays_.count}));
}

// Writes each coordinate to the end of the list, and advances the end only if it was written.
void TrackedLevel::list_written(Emitter& out) const {
  const std::string name = out.names().fresh("scanned");
  const Expr coordinate = loop::Var::make(name);
  const Expr is_written =
      Load::make(arrays_.stamps, after(arrays_.stamps_base, coordinate)) == arrays_.round;
  out.assign(arrays_.count, IntConst::make(0));
  Emitter body = out.nested();
  body.store(arrays_.list, after(arrays_.list_base, arrays_.count),
             Cast::make(arrays_.list->element, coordinate));
  body.assign(arrays_.count,
              arrays_.count + loop::Select::make(is_written, IntConst::make(1), IntConst::make(0)));
  const Expr end = mutant("scan-ends-early") ? arrays_.scanned - 1 : arrays_.scanned;
  out.add(loop::For::make(name, IntConst::make(0), end, body.take()));
}

Positions TrackedLevel::positions(Emitter& out, const Positions&, const Expr&) const {
  return {IntConst::make(0), out.snapshot("w_end", arrays_.count)};
}

Expr TrackedLevel::coordinate(const Expr& position, const Positions&) const {
  return Cast::make(DType::Int64, Load::make(arrays_.list, after(arrays_.list_base, position)));
}

Expr TrackedLevel::child(const Expr& position) const { return coordinate(position, {}); }

void begin_round(Emitter& out, const TrackedArrays& arrays) {
  if (!mutant("tracked-keeps-round")) out.assign(arrays.round, arrays.round + 1);
  out.assign(arrays.count, IntConst::make(0));
}

void add_tracked(Emitter& out, const TrackedArrays& arrays, const Expr& coordinate,
                 nest::Monoid monoid, const Expr& value) {
  const Expr stamp = after(arrays.stamps_base, coordinate);
  const Expr seen = out.let("seen", Load::make(arrays.stamps, stamp) == arrays.round);
  if (!arrays.only_counts()) {
    // Ignores values of earlier rounds.
    const loop::Type type = value.type();
    const Expr at = after(arrays.values_base, coordinate);
    const Expr old = out.let("old", Load::make(arrays.values, at));
    const Expr start = loop::Select::make(seen, old, identity_of(monoid, type));
    out.store(arrays.values, at, combine(monoid, start, value));
  }
  if (arrays.lists_as_they_come()) {
    out.store(arrays.list, after(arrays.list_base, arrays.count),
              Cast::make(arrays.list->element, coordinate));
  }
  if (arrays.counts_as_they_come()) {
    out.assign(arrays.count,
               arrays.count + loop::Select::make(seen, IntConst::make(0), IntConst::make(1)));
  }
  out.store(arrays.stamps, stamp, arrays.round);
}

Expr begin_block(Emitter& out, const TrackedArrays& arrays, const Expr& coordinate,
                 const Expr& identity) {
  const Expr stamp = after(arrays.stamps_base, coordinate);
  const Expr is_new = out.let("is_new", Load::make(arrays.stamps, stamp) != arrays.round);
  if (!arrays.values || mutant("tracked-block-stale")) return is_new;
  const std::string element = out.names().fresh("element");
  const Expr at = coordinate * arrays.block + loop::Var::make(element);
  const loop::Stmt start =
      loop::Store::make(arrays.values, after(arrays.values_base, at), identity);
  out.add(loop::If::make(is_new, loop::For::make(element, IntConst::make(0), arrays.block, start)));
  return is_new;
}

void end_block(Emitter& out, const TrackedArrays& arrays, const Expr& coordinate,
               const Expr& is_new, const Expr& written) {
  Emitter note = out.nested();
  if (arrays.lists_as_they_come()) {
    note.store(arrays.list, after(arrays.list_base, arrays.count),
               Cast::make(arrays.list->element, coordinate));
  }
  if (arrays.counts_as_they_come()) note.assign(arrays.count, arrays.count + 1);
  note.store(arrays.stamps, after(arrays.stamps_base, coordinate), arrays.round);
  out.add(loop::If::make(written ? loop::both(is_new, written) : is_new, note.take()));
}

}  // namespace tulle::lower
