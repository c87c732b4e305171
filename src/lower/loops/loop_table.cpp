// The table of loop kinds. A loop becomes the first kind that applies.
#include "lower/loops/loop_table.h"

#include "lower/loops/bound_loop.h"
#include "lower/loops/certain_entries.h"
#include "lower/loops/counted_entries.h"
#include "lower/loops/dealt_pieces.h"
#include "lower/loops/dense_loop.h"
#include "lower/loops/entries_of_chunk.h"
#include "lower/loops/entries_of_piece.h"
#include "lower/loops/entry_at_hand.h"
#include "lower/loops/entry_loop.h"
#include "lower/loops/listed_rows_by_work.h"
#include "lower/loops/loop_kind.h"
#include "lower/loops/member_loop.h"
#include "lower/loops/merge_loop.h"
#include "lower/loops/no_loop.h"
#include "lower/loops/partial_sums.h"
#include "lower/loops/pieces_of_row.h"
#include "lower/loops/rows_by_work.h"
#include "lower/loops/rows_of_chunk.h"
#include "lower/loops/run_loop.h"
#include "lower/loops/shared_row_of_chunk.h"
#include "lower/loops/tuples_of_lanes.h"
#include "lower/loops/tuples_of_threads.h"
#include "lower/loops/unfinished_row.h"
#include "support/check.h"

namespace tulle::lower {

namespace {

template <typename Kind>
const LoopKind* kind() {
  static const Kind one;
  return &one;
}

const LoopKind* const* kinds() {
  static const LoopKind* const all[] = {
      // Threads combine their parts.
      kind<TuplesOfLanes>(),
      kind<TuplesOfThreads>(),
      kind<PartialSums>(),
      // Loops over the entries of a row by number.
      kind<NoPieces>(),
      kind<EntriesOfPiece>(),
      kind<PiecesOfRow>(),
      // Loops over a chunk's part of an operand. In the merge kernel, SharedRowOfChunk applies in
      // place of RowsOfChunk, and UnfinishedRow in place of RowsByWork.
      kind<SharedRowOfChunk>(),
      kind<DealtPiecesLoop>(),
      kind<RowsOfChunk>(),
      kind<EntriesOfChunk>(),
      kind<ListedRowsByWork>(),
      kind<UnfinishedRow>(),
      kind<RowsByWork>(),
      // Records an entry that certainly exists, then looks up the same loop again.
      kind<CertainEntries>(),
      // Loops over every coordinate.
      kind<BoundLoop>(),
      kind<MemberLoop>(),
      kind<DenseLoop>(),
      // Loops over the entries of one operand.
      kind<EntryAtHand>(),
      kind<CountedEntries>(),
      kind<EntryLoop>(),
      kind<RunLoop>(),
      // Loops over the entries of several operands.
      kind<MergeLoop>(),
      // Loops without iterations.
      kind<NoLoop>(),
      nullptr,
  };
  return all;
}

}  // namespace

void lower_loop(LoopParts& parts, const nest::Forall& loop, const KernelScope& scope,
                Emitter& out) {
  const LoopSite site(parts, loop, scope);
  if (site.walked.size() > kMostMerged) parts.kernel.require_one_body();
  for (const LoopKind* const* one = kinds(); *one; ++one) {
    if ((*one)->applies(site)) return (*one)->lower(site, out);
  }
  internal_error("a loop over ", loop.var, " of no kind");
}

}  // namespace tulle::lower
