// Arrays made of the structure of an operand by steps of their own, which may be kept with it.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"
#include "lower/emitter.h"
#include "lower/options.h"

namespace tulle::lower {

// The rows that an operand stores entries of: where each begins, how many there are, and how many
// entries in all.
struct StoredRows {
  std::string tensor;
  loop::Buffer positions;
  loop::Expr rows, entries;
};

// The kernels and steps that make arrays, between their keep and their kept.
struct Derived {
  std::string what, tensor;
  std::vector<loop::Kernel> kernels;
  std::vector<loop::HostStep> steps;
};

// Adds them to the program, unless it has them.
void add_derived(const Derived& derived, loop::HostProgram& program);

// Rows cut into pieces of at most `length` entries, a row without entries being one piece. Piece k
// has the entries from begins[k] to begins[k + 1] of row rows[k]; of a row that has several pieces,
// -1 - row stands there. The pieces from parts[p] to parts[p + 1] make part p of `part_count`,
// which all have about the same work. Rows that have several pieces are listed, shared_count[0] of
// them in any order.
struct DealtPieces {
  loop::Buffer begins, rows, parts, shared, shared_count;
  loop::Expr most_shared;  // upper bound of shared_count
};
DealtPieces dealt_pieces_of(const StoredRows& stored, int64_t length, int64_t part_count);
Derived derive_dealt_pieces(const StoredRows& stored, int64_t length, int64_t part_count,
                            const Options& options);

// The row of each entry.
loop::Buffer entry_rows_of(const StoredRows& stored);
Derived derive_entry_rows(const StoredRows& stored, const Options& options);

}  // namespace tulle::lower
