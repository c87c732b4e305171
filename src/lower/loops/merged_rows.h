// Chunks of exactly equal work. Rows and entries form one sequence, in which the entries of a row
// precede the end of the row. All chunks have the same number of elements of this sequence, also if
// that cuts a row. Entry p of row i has number p + i, and the end of row i has number pos[i + 1] +
// i.
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

// The operand whose rows and entries the loop cuts. Null for other loops.
const expr::Access* operand_cut_by_work(const LoopSite& site);

// The rows of a compressed operand, their work, and the current chunk's part of the work.
struct RowsInChunk {
  const expr::Access* operand = nullptr;
  loop::Buffer positions;
  loop::Expr rows;
  Work work;
  loop::Expr begin, end;
};
// Also records in the kernel's facts that the loop is cut.
RowsInChunk rows_in_chunk(const LoopSite& site, Emitter& out);

// The first row whose entries begin at or after that number.
loop::Expr first_row_from(const RowsInChunk& chunk, const loop::Expr& number, Emitter& out);

}  // namespace tulle::lower
