// The table of rewrites.
#include "schedule/rewrites.h"

#include <algorithm>
#include <limits>

#include "schedule/rewrites/bind.h"
#include "schedule/rewrites/deal_rows.h"
#include "schedule/rewrites/fuse.h"
#include "schedule/rewrites/nontemporal.h"
#include "schedule/rewrites/number_rows.h"
#include "schedule/rewrites/parallel.h"
#include "schedule/rewrites/precompute.h"
#include "schedule/rewrites/prefetch.h"
#include "schedule/rewrites/reorder.h"
#include "schedule/rewrites/rfactor.h"
#include "schedule/rewrites/split.h"
#include "schedule/rewrites/split_entries.h"
#include "schedule/rewrites/split_positions.h"
#include "schedule/rewrites/split_rows.h"
#include "schedule/rewrites/stage.h"
#include "schedule/rewrites/unroll.h"
#include "schedule/rewrites/vectorize.h"
#include "schedule/text/parameters.h"

namespace tulle::schedule {

namespace {

using nest::Nest;
using Balance = Parallel::Balance;
using Part = Bind::Part;
using Staging = Stage::Staging;

const Range kLength = {};
const Range kDealt = {.most = 32768};
const Range kLanes = {.least = 2, .most = 64, .of = "lanes", .powers_of_two = true};
const Range kCopies = {.least = 2, .most = kMostCopies, .of = "copies", .zero = true};
const Range kDepth = {.most = 8, .of = "copies of a tile"};
const Range kAhead = {.most = kMostAhead, .of = "entries ahead"};

// fuse_launches changes no nest. It selects kernels for one launch.
Result<Nest> leave_nest(const Nest& nest, const FuseLaunches&) { return nest; }

// decompose rewrites statements, before nests exist (decompositions.h).
Result<Nest> refuse_decomposition(const Nest&, const Decompose& step) {
  return refusal("'", step.operand, "' is decomposed before loops exist: decompose is for ",
                 "programs, not for a nest.");
}

// clang-format off
std::vector<RewriteKind> make_kinds() {
  return {
    kind("split", "split(k, 64, k0, k1)", split,
         {loop(&Split::loop), number(&Split::length, kLength), new_loop(&Split::outer), new_loop(&Split::inner)}),
    kind("reorder", "reorder(i, k, j)", reorder,
         {loops(&Reorder::loops, 2)}),
    kind("fuse", "fuse(i, j, f)", fuse,
         {loop(&Fuse::outer), loop(&Fuse::inner), new_loop(&Fuse::fused)}),
    kind("split_positions", "split_positions(j, 32, j0, j1)", split_positions,
         {loop(&SplitPositions::loop), number(&SplitPositions::length, kLength), new_loop(&SplitPositions::outer),
          new_loop(&SplitPositions::inner)}),
    kind("number_rows", "number_rows(i, r)", number_rows,
         {loop(&NumberRows::loop), new_loop(&NumberRows::row)}),
    kind("split_rows", "split_rows(i, 128, c, r) or split_rows(i, 128, c, r, 1024)", split_rows,
         {loop(&SplitRows::loop), number(&SplitRows::length, kLength), new_loop(&SplitRows::chunk),
          new_loop(&SplitRows::row), number(&SplitRows::parts, kLength)}),
    kind("deal_rows", "deal_rows(i, 128, c, r, 132, 32)", deal_rows,
         {loop(&DealRows::loop), number(&DealRows::length, kLength), new_loop(&DealRows::chunk),
          new_loop(&DealRows::row), number(&DealRows::parts, kDealt), number(&DealRows::turns, kDealt)}),
    kind("split_entries", "split_entries(i, j, 32, c, e)", split_entries,
         {loop(&SplitEntries::row), loop(&SplitEntries::entry), number(&SplitEntries::length, kLength),
          new_loop(&SplitEntries::chunk), new_loop(&SplitEntries::inner)}),
    kind("precompute", "precompute(acc, (j, k)), precompute(acc, k, tracked) or precompute(acc, k, scanned)", precompute,
         {new_workspace(&Precompute::workspace), loop_list(&Precompute::loops, &Precompute::bare),
          word(&Precompute::tracking, {{"tracked", Precompute::Tracking::Tracked}, {"scanned", Precompute::Tracking::Scanned}},
               Precompute::Tracking::Plain)}),
    kind("rfactor", "rfactor(j, part)", rfactor,
         {loop(&RFactor::loop), new_workspace(&RFactor::workspace)}),
    kind("stage", "stage(B, j, registers), or shared, or stage(B, j, shared, 2)", stage,
         {operand(&Stage::operand), loop(&Stage::loop),
          word(&Stage::staging, {{"registers", Staging::Registers}, {"shared", Staging::Shared}}),
          number(&Stage::depth, kDepth)}),
    kind("parallel", "parallel(i, by=rows), by=nnz or by=merge", parallel,
         {loop(&Parallel::loop),
          keyword("by", &Parallel::balance, {{"rows", Balance::Rows}, {"nnz", Balance::Nnz}, {"merge", Balance::Merge}},
                  std::optional<Balance>())}),
    kind("bind", "bind(i, block), or warp, lane, thread, member; with sums=atomics of a loop that is summed", bind,
         {loop(&Bind::loop),
          word(&Bind::part, {{"block", Part::Block}, {"warp", Part::Warp}, {"lane", Part::Lane}, {"thread", Part::Thread},
                             {"member", Part::Member}}),
          keyword("sums", &Bind::by_atomics, {{"atomics", true}}, false)}),
    kind("vectorize", "vectorize(k, 16)", vectorize,
         {loop(&Vectorize::loop), number(&Vectorize::lanes, kLanes)}),
    kind("unroll", "unroll(j, 2)", unroll,
         {loop(&Unroll::loop), number(&Unroll::copies, kCopies)}),
    kind("prefetch", "prefetch(B, 16)", prefetch,
         {operand(&Prefetch::operand), number(&Prefetch::distance, kAhead)}),
    kind("nontemporal", "nontemporal(C)", nontemporal,
         {name(ArgumentRole::Result, &NonTemporal::result)}),
    kind("fuse_launches", "fuse_launches(C)", leave_nest,
         {name(ArgumentRole::Statement, &FuseLaunches::statement)}),
    kind("decompose", "decompose(A, hyb(2,3))", refuse_decomposition,
         {operand(&Decompose::operand), name(ArgumentRole::Format, &Decompose::format)}),
  };
}
// clang-format on

const std::vector<RewriteKind>& rewrite_kinds() {
  static const std::vector<RewriteKind> kinds = make_kinds();
  return kinds;
}

}  // namespace

const RewriteKind& kind_of(const Rewrite& rewrite) {
  const auto& kinds = rewrite_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const RewriteKind& kind) {
    return kind.alternative == rewrite.index();
  });
  TULLE_CHECK(found != kinds.end(), "a rewrite in the table");
  return *found;
}

const RewriteKind* find_rewrite(std::string_view name) {
  const auto& kinds = rewrite_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const RewriteKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

std::string rewrite_names() {
  std::string names;
  for (const RewriteKind& kind : rewrite_kinds())
    names += concat(names.empty() ? "" : ", ", kind.name);
  return names;
}

}  // namespace tulle::schedule
