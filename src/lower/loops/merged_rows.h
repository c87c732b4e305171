// Chunks of exactly equal work: rows and entries are one sequence, in which each row's entries
// stand before the row's end, and a chunk has the same number of them as any other, wherever in a
// row that is. Entry p of row i is number p + i, the end of row i number pos[i + 1] + i.
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

// The operand whose rows and entries the loop cuts; null where the loop is another one.
const expr::Access* operand_cut_by_work(const LoopSite& site);

// The rows of a compressed operand, their work, and the part of it that the chunk at hand has.
struct RowsInChunk {
  const expr::Access* operand = nullptr;
  loop::Buffer positions;
  loop::Expr rows;
  Work work;
  loop::Expr begin, end;
};
// Notes in the kernel's facts that the loop is cut.
RowsInChunk rows_in_chunk(const LoopSite& site, Emitter& out);

// The first row whose entries begin at that number or after it.
loop::Expr first_row_from(const RowsInChunk& chunk, const loop::Expr& number, Emitter& out);

}  // namespace tulle::lower
