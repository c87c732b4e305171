// Seeded faults of the compiler. Tests enable one at a time and must detect it.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace tulle {

// The faults that random programs must detect, by folder. Each of the other faults has a test of
// its own, which enables it.
inline constexpr std::string_view kMutants[] = {
    // expr
    "absence-drops-sign", "absence-keeps-product",
    // plan
    "decompose-drops-part", "decompose-nonlinear", "decompose-shows-padding", "empty-ignored",
    "extent-ignores-zeros", "gap-presumed-last", "indices-not-renamed", "order-never-sorts",
    "pattern-shared-anyway",
    // schedule
    "bind-over-reduction", "dealt-pieces-shared", "member-stores-others", "parallel-over-reduction",
    "precompute-overwrites", "readers-unchecked", "result-order-unchecked", "rfactor-keeps-last",
    // lower
    "append-untouched", "atomics-add-maxima", "bind-unguarded", "bitmap-all-set", "block-unguarded",
    "bound-through-fused", "chunk-cuts-run", "chunk-skips-row", "cut-along-begins-late",
    "cut-row-finished-twice", "entry-in-row-before", "every-lane-adds", "every-warp-adds",
    "fuse-wrong-extent", "fused-block-unshifted", "lanes-half-merged", "lanes-half-summed",
    "last-piece-lost", "lattice-drops-point", "lattice-inverts", "lead-never-shrinks",
    "listed-row-lost", "members-all-store", "members-by-chunk", "members-disagree",
    "members-miss-rounds", "members-mixed", "members-overlap", "members-share-slice",
    "merge-ends-early", "merged-rows-unfinished", "monoid-starts-at-zero", "one-body-ends-early",
    "order-presumed", "padding-is-entry", "part-overwrites", "parts-always-added",
    "parts-without-barrier", "piece-unguarded", "pieces-not-shared", "presence-of-any-factor",
    "ragged-found-past-end", "range-ends-early", "result-not-zeroed", "row-pieces-overlap",
    "row-pieces-share-a-place", "scan-ends-early", "search-goes-past", "segment-ends-early",
    "select-band-too-wide", "select-block-with-next", "select-least-as-most",
    "select-range-too-early", "select-window-shifted", "shared-rows-stored",
    "skipped-rows-unwritten", "slices-overlap", "split-unbounded", "stage-stale-buffer",
    "stage-without-barrier", "stored-row-unmapped", "tracked-block-stale", "tracked-keeps-round",
    "tracked-unsorted", "tuple-takes-nothing", "tuples-without-barrier", "work-begins-early",
    "work-of-last-chunk-lost", "workspace-wrong-zero",
    // passes
    "carry-never-moves", "fma-wrong-operand", "fma-wrong-sign", "promote-drops-store",
    "scattered-sums-mixed", "simplify-drops-store", "unroll-missing-remainder",
    "vector-reduce-drops-init", "vectorize-ignores-mask", "vectorize-missing-tail"};

// The enabled fault; empty for none. TULLE_MUTANT in the environment sets the initial value.
inline std::string& active_mutant() {
  static std::string name = [] {
    const char* value = std::getenv("TULLE_MUTANT");
    return std::string(value ? value : "");
  }();
  return name;
}

// Enables another fault; "" disables all. Call it only while nothing is being compiled.
inline void set_mutant(std::string name) { active_mutant() = std::move(name); }

// Whether this fault is enabled.
inline bool mutant(std::string_view name) { return active_mutant() == name; }

}  // namespace tulle
