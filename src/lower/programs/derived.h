// Arrays derived from the structure of an operand by separate steps. The cache may keep them with
// the operand.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"
#include "lower/emitter.h"
#include "lower/options.h"

namespace tulle::lower {

// The rows of an operand's entries: their first positions, the number of rows and the number of
// entries.
struct StoredRows {
  std::string tensor;
  loop::Buffer positions;
  loop::Expr rows, entries;
};

// Kernels and steps that make arrays. They run between the keep step and the kept step of the
// arrays.
struct Derived {
  std::string what, tensor;
  std::vector<loop::Kernel> kernels;
  std::vector<loop::HostStep> steps;
};

// Adds them to the program unless it already has them.
void add_derived(const Derived& derived, loop::HostProgram& program);

// Rows cut into pieces of at most `length` entries. A row without entries is one piece. Piece k has
// the entries from begins[k] to begins[k + 1] and belongs to row rows[k]. For a row with several
// pieces, rows[k] is -1 - row. Part p of `part_count` consists of the pieces from parts[p] to
// parts[p + 1]; all parts have about the same work. The first shared_count[0] elements of a list
// are the rows with several pieces, in any order.
struct DealtPieces {
  loop::Buffer begins, rows, parts, shared, shared_count;
  loop::Expr most_shared;  // upper bound of shared_count
};
DealtPieces dealt_pieces_of(const StoredRows& stored, int64_t length, int64_t part_count);
Derived derive_dealt_pieces(const StoredRows& stored, int64_t length, int64_t part_count,
                            const Options& options);

// The array with the row of each entry.
loop::Buffer entry_rows_of(const StoredRows& stored);
Derived derive_entry_rows(const StoredRows& stored, const Options& options);

}  // namespace tulle::lower
