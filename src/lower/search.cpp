// Finding coordinates among the stored ones.
#include "lower/search.h"

#include <vector>

#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

Expr middle(const Expr& low, const Expr& high) {
  return Binary::make(BinaryOp::Div, low + high, IntConst::make(2));
}

}  // namespace

Expr emit_lower_bound(Emitter& out, const LevelCode& level, const Positions& run,
                      const Expr& coordinate) {
  const Expr low = out.declare("low", run.begin);
  if (!level.is_ordered()) {
    // Any order: walk until it turns up.
    const Expr searching = out.declare("searching", low < run.end);
    Emitter body = out.nested(), found = out.nested(), on = out.nested();
    found.assign(searching, IntConst::make(0, loop::kBool));
    on.assign(low, low + 1);
    on.assign(searching, low < run.end);
    body.add(loop::If::make(level.coordinate(low, run) == coordinate, found.take(), on.take()));
    out.add(loop::While::make(searching, body.take()));
    return low;
  }
  const Expr high = out.declare("high", run.end);
  Emitter body = out.nested();
  const Expr half = body.snapshot("half", middle(low, high));
  Emitter right = out.nested(), left = out.nested();
  right.assign(low, half + 1);
  left.assign(high, half);
  const Expr before = mutant("search-goes-past") ? level.coordinate(half, run) <= coordinate
                                                 : level.coordinate(half, run) < coordinate;
  body.add(loop::If::make(before, right.take(), left.take()));
  out.add(loop::While::make(low < high, body.take()));
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

Expr emit_first_by_halves(Emitter& out, const Expr& count,
                          const std::function<Expr(const Expr&)>& key, const Expr& wanted,
                          const std::string& name) {
  const Expr low = out.declare(name, IntConst::make(0));
  const Expr high = out.declare("high", count);
  Emitter body = out.nested(), right = out.nested(), left = out.nested();
  const Expr half = body.snapshot("half", middle(low, high));
  right.assign(low, half + 1);
  left.assign(high, half);
  const bool skips = mutant("chunk-skips-row") && name == "first";
  body.add(
      loop::If::make(skips ? key(half) <= wanted : key(half) < wanted, right.take(), left.take()));
  out.add(loop::While::make(low < high, body.take()));
  return low;
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
  // The last eighth ends with what was not looked at.
  body.assign(high, loop::Select::make(passed < IntConst::make(7),
                                       loop::minimum(begin + step * (passed + 1), end) - 1, end));
  out.add(loop::While::make(low < high, body.take()));
  return low;
}

}  // namespace tulle::lower
