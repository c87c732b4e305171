// Loops over equally many entries of an operand, whatever rows they are of.
#include <algorithm>

#include "lower/kernel_lowering.h"
#include "lower/search.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;

namespace {

// The rows of entries from `first` on, each found by going on from the row before.
class RowsOfEntries {
 public:
  RowsOfEntries(const loop::Buffer& positions, const Expr& rows, const Expr& first, Emitter& out)
      : positions_(positions) {
    const auto end_of = [&](const Expr& row) { return end(row); };
    row_ = out.declare("row", emit_first_by_eighths(out, rows, end_of, first + 1));
    end_ = out.declare("row_end", end(row_));
  }

  // Goes on to the row of a later entry.
  Expr advance(const Expr& entry, Emitter& out) {
    Emitter on = out.nested();
    on.assign(row_, row_ + 1);
    on.assign(end_, end(row_));
    out.add(
        loop::While::make(mutant("entry-in-row-before") ? end_ < entry : end_ <= entry, on.take()));
    return row_;
  }

 private:
  Expr end(const Expr& row) const {
    return Cast::make(DType::Int64, Load::make(positions_, row + 1));
  }

  loop::Buffer positions_;
  Expr row_, end_;
};

// Whether each statement stores what it computes, so that to do it twice changes nothing.
bool only_stores(const nest::Forall& loop, const std::string& result) {
  const std::vector<const nest::Assign*> all = nest::assigns(loop.body);
  return std::all_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    return assign->tensor != result || !assign->accumulate;
  });
}

}  // namespace

// So many entries at a time as the loop is unrolled: first their rows, one after the other, then
// all that is done with them, so that their loads are under way together. Past the end of the
// operand the last entry is taken again where that changes nothing, without a branch.
void KernelLowering::entries_of_chunk(const nest::Forall& loop, const Scope& scope, Emitter& out) {
  const nest::Variable& variable = nest_.variable(loop.var);
  const loop::Buffer positions = code(variable.tensor).levels[1]->positions_buffer();
  const Expr rows = coordinates_.extent(variable.parent);
  const Expr begin = out.let("begin", chunk_around(variable, scope) * variable.factor);
  const Expr count = Cast::make(DType::Int64, Load::make(positions, rows));
  const Expr end = out.let("end", loop::minimum(begin + variable.factor, count));
  RowsOfEntries entries(positions, rows, begin, out);

  const bool repeats = only_stores(loop, result_) && nest_.tensor(result_).onto.empty();
  const bool unrolls = repeats && loop.tag.kind == nest::LoopTag::Kind::Unrolled;
  const int64_t wanted = loop.tag.factor == 0 ? variable.factor : loop.tag.factor;
  const int64_t copies = unrolls ? std::min<int64_t>(wanted, variable.factor) : 1;
  const std::string step = names_.fresh(loop.var + "_step");
  Emitter block = out.nested();
  const Expr first = block.let("first", begin + loop::Var::make(step) * copies);
  const loop::Buffer found =
      loop::make_buffer(names_.fresh(loop.var + "_rows"), DType::Int64, loop::Space::Local);
  block.add(loop::Allocate::make(found, IntConst::make(copies), false));
  // A loop over the entries of a step, unrolled; the body gets the number of one and its position.
  auto for_each = [&](const auto& fill) {
    const std::string name = names_.fresh(loop.var);
    const Expr number = loop::Var::make(name), wish = first + number;
    Emitter body = out.nested();
    fill(number, body.let(variable.tensor + "_p", repeats ? loop::minimum(wish, end - 1) : wish),
         body);
    const auto kind = copies > 1 ? loop::LoopKind::Unrolled : loop::LoopKind::Serial;
    block.add(loop::For::make(name, IntConst::make(0), IntConst::make(copies), body.take(), kind,
                              copies > 1 ? static_cast<int>(copies) : 0));
  };
  for_each([&](const Expr& number, const Expr& entry, Emitter& body) {
    body.store(found, number, entries.advance(entry, body));
  });
  for_each([&](const Expr& number, const Expr& entry, Emitter& body) {
    Scope inner = scope;
    inner.entries[variable.tensor] = entry;
    inner.coordinates[loop.var] = entry - begin;
    for (const auto& [id, cursor] : scope.cursors) {
      if (cursor.access->tensor == variable.tensor)
        inner.conditional |= !visits_all_of_result(cursor);
    }
    const nest::Stmt rows_loop =
        nest::Forall::make(variable.parent, nest::Forall::make(variable.second, loop.body));
    const Expr row = body.let(variable.parent, Load::make(found, number));
    enter(*rows_loop.as<nest::Forall>(), row, {}, {}, inner, body);
  });
  const Expr steps =
      repeats ? IntConst::make((variable.factor + copies - 1) / copies) : end - begin;
  out.add(loop::For::make(step, IntConst::make(0), steps, block.take()));
}

}  // namespace tulle::lower
