// Searches stored coordinates.
#include "lower/levels/search.h"

#include <vector>

#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

// Finds the first number of the run for which `is_before` is false, or the end. It must be true for
// all numbers before and false after. `name` is the name of the result variable.
Expr emit_halving(Emitter& out, const std::string& name, const Positions& run,
                  const std::function<Expr(const Expr&)>& is_before) {
  const Expr low = out.declare(name, run.begin);
  const Expr high = out.declare("high", run.end);
  Emitter body = out.nested(), right = out.nested(), left = out.nested();
  const Expr half =
      body.snapshot("half", Binary::make(BinaryOp::Div, low + high, IntConst::make(2)));
  right.assign(low, half + 1);
  left.assign(high, half);
  body.add(loop::If::make(is_before(half), right.take(), left.take()));
  out.add(loop::While::make(low < high, body.take()));
  return low;
}

}  // namespace

Expr emit_lower_bound(Emitter& out, const LevelCode& level, const Positions& run,
                      const Expr& coordinate) {
  if (level.is_ordered()) {
    return emit_halving(out, "low", run, [&](const Expr& half) {
      const Expr at = level.coordinate(half, run);
      return mutant("search-goes-past") ? at <= coordinate : at < coordinate;
    });
  }
  // An unordered run: scan it.
  const Expr low = out.declare("low", run.begin);
  const Expr searching = out.declare("searching", low < run.end);
  Emitter body = out.nested(), found = out.nested(), on = out.nested();
  found.assign(searching, IntConst::make(0, loop::kBool));
  on.assign(low, low + 1);
  on.assign(searching, low < run.end);
  body.add(loop::If::make(level.coordinate(low, run) == coordinate, found.take(), on.take()));
  out.add(loop::While::make(searching, body.take()));
  return low;
}

Expr emit_segment_end(Emitter& out, const LevelCode& level, const Expr& begin, const Positions& run,
                      const Expr& coordinate) {
  const Expr next = out.declare("next", begin + 1);
  const Expr same = out.declare("same", next < run.end);
  Emitter body = out.nested(), on = out.nested(), stop = out.nested();
  on.assign(next, next + 1);
  on.assign(same, mutant("segment-ends-early") ? IntConst::make(0, loop::kBool) : next < run.end);
  stop.assign(same, IntConst::make(0, loop::kBool));
  body.add(loop::If::make(level.coordinate(next, run) == coordinate, on.take(), stop.take()));
  out.add(loop::While::make(same, body.take()));
  return next;
}

Expr emit_segment_end_by_halves(Emitter& out, const LevelCode& level, const Expr& begin,
                                const Positions& run, const Expr& coordinate) {
  const Positions rest{begin + 1, run.end, run.base};
  return emit_halving(out, "next", rest, [&](const Expr& half) {
    return mutant("segment-ends-early") ? IntConst::make(0, loop::kBool)
                                        : level.coordinate(half, run) == coordinate;
  });
}

Expr emit_first_by_halves(Emitter& out, const Expr& count,
                          const std::function<Expr(const Expr&)>& key, const Expr& wanted,
                          const std::string& name) {
  return emit_halving(out, name, {IntConst::make(0), count},
                      [&](const Expr& half) { return key(half) < wanted; });
}

Expr emit_first_by_eighths(Emitter& out, const Expr& count,
                           const std::function<Expr(const Expr&)>& key, const Expr& wanted) {
  const Expr low = out.declare("first", IntConst::make(0));
  const Expr high = out.declare("high", count);
  Emitter body = out.nested();
  const Expr begin = body.snapshot("low", low), end = body.snapshot("end", high);
  const Expr step = body.let("step", loop::ceil_divide(end - begin, 8));
  std::vector<Expr> keys;
  for (int64_t eighth = 1; eighth < 8; ++eighth)
    keys.push_back(body.let("key", key(loop::minimum(begin + step * eighth, end) - 1)));
  Expr below = IntConst::make(0);
  for (const Expr& one : keys)
    below = below + loop::Select::make(one < wanted, IntConst::make(1), IntConst::make(0));
  const Expr passed = body.let("passed", below);
  body.assign(low, loop::minimum(begin + step * passed, end));
  // The last eighth ends at the end of the range.
  body.assign(high, loop::Select::make(passed < IntConst::make(7),
                                       loop::minimum(begin + step * (passed + 1), end) - 1, end));
  out.add(loop::While::make(low < high, body.take()));
  return low;
}

}  // namespace tulle::lower
