// The names of the rules for GPU schedules. Tests check that they cover each of them.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace tulle::plan {

#define TULLE_GPU_RULES(RULE)                                                                     \
  /* Rows that fill several workspaces (gpu_rows): whole or cut, of one loop or several, of       \
     entries or of all columns; an entry for some lanes, for a warp or for one lane. */           \
  RULE(GatheredRows)                                                                              \
  RULE(GatheredCutRows)                                                                           \
  RULE(GatheredRowsOfSeveralLoops)                                                                \
  RULE(GatheredDenseRows)                                                                         \
  RULE(GatheredByGroups)                                                                          \
  RULE(GatheredByWarps)                                                                           \
  RULE(GatheredByLanes)                                                                           \
  RULE(GatheredVectors)                                                                           \
  /* Results with contiguous columns (gpu_columns): entries on the lanes that columns leave over. \
   */                                                                                             \
  RULE(EntriesBesideColumns)                                                                      \
  RULE(EntriesBesideColumnsDealt)                                                                 \
  RULE(EntriesBesidePanels)                                                                       \
  RULE(EntriesBesideVectors)                                                                      \
  /* The same with columns on threads. */                                                         \
  RULE(ColumnsOnThreads)                                                                          \
  RULE(ColumnsDealt)                                                                              \
  RULE(ColumnsDealtToSmallBlocks)                                                                 \
  RULE(ColumnsInPanels)                                                                           \
  RULE(ColumnsInPairs)                                                                            \
  RULE(ColumnsInVectors)                                                                          \
  RULE(ColumnsSummed)                                                                             \
  RULE(PanelsForTheCache)                                                                         \
  RULE(ColumnsStreamed)                                                                           \
  /* Sums for entries on lanes (gpu_sums). */                                                     \
  RULE(SumsSpreadByEntries)                                                                       \
  RULE(SumsSpreadByRows)                                                                          \
  RULE(SumsOfARow)                                                                                \
  RULE(SumsOfDealtRows)                                                                           \
  RULE(SumsOfCutRows)                                                                             \
  RULE(SumsInPanels)                                                                              \
  RULE(SumsInSteps)                                                                               \
  RULE(SumsInVectors)                                                                             \
  RULE(SumsOfOneVector)                                                                           \
  RULE(SumsGathered)                                                                              \
  RULE(SumsStreamed)                                                                              \
  /* Rows and their entries (gpu_sums): on groups of lanes or on warps, or, where these lie on    \
     diagonals, on threads. */                                                                    \
  RULE(EntriesOnGroups)                                                                           \
  RULE(EntriesOnWarps)                                                                            \
  RULE(EntriesOfCutRows)                                                                          \
  RULE(EntriesSummed)                                                                             \
  RULE(DiagonalsOnThreads)                                                                        \
  /* Sums by atomics (gpu_scatter). */                                                            \
  RULE(ScatteredColumns)                                                                          \
  RULE(ScatteredColumnsInPanels)                                                                  \
  RULE(ScatteredColumnsInVectors)                                                                 \
  RULE(ScatteredColumnsOfRows)                                                                    \
  RULE(ScatteredColumnsOfSummedRows)                                                              \
  RULE(ScatteredColumnsOfEntries)                                                                 \
  RULE(ScatteredEntries)                                                                          \
  RULE(SumOfAllEntries)                                                                           \
  RULE(SumOfAll)                                                                                  \
  RULE(SumOfOneLoop)                                                                              \
  RULE(ScatteredIterations)                                                                       \
  /* Where none of these fits: chunks of the outermost loop, or one thread. */                    \
  RULE(ChunksOfRows)                                                                              \
  RULE(ChunksOfEntries)                                                                           \
  RULE(ChunksOfWork)                                                                              \
  RULE(OneThread)                                                                                 \
  /* With any of them. */                                                                         \
  RULE(NumberedRows)                                                                              \
  RULE(SharedPattern)                                                                             \
  RULE(AppendedResult)                                                                            \
  RULE(TrackedResult)                                                                             \
  RULE(SharedBlocks)                                                                              \
  RULE(SortedResult)                                                                              \
  RULE(ConvertedOperand)                                                                          \
  RULE(ReducedFirst)                                                                              \
  RULE(WideSum)                                                                                   \
  RULE(PartsLaunchedTogether)

enum class GpuRule : uint8_t {
#define TULLE_ENUMERATOR(name) name,
  TULLE_GPU_RULES(TULLE_ENUMERATOR)
#undef TULLE_ENUMERATOR
};

inline constexpr std::string_view kGpuRules[] = {
#define TULLE_NAME(name) #name,
    TULLE_GPU_RULES(TULLE_NAME)
#undef TULLE_NAME
};

using GpuRules = std::set<GpuRule>;

}  // namespace tulle::plan
