// The state at a point of a kernel under construction.
#pragma once

#include <map>
#include <string>

#include "lower/coordinates.h"
#include "lower/lattice.h"
#include "lower/levels/level_code.h"

namespace tulle::lower {

// The resolved part of an access: the levels before `level`. `at` are the positions in the last of
// these.
struct Cursor {
  const expr::Access* access = nullptr;
  int level = 0;
  Positions at;
};

// The lane at this distance, in a group of `width` lanes.
struct Partner {
  int64_t distance = 0;
  int width = 0;
};

// Accesses that do not read at their cursors, by access id.
struct ReadsInstead {
  std::map<int, loop::Expr> masks;   // read zero if the condition is false
  std::map<int, loop::Expr> values;  // read this value
  std::map<int, Partner> partners;   // read the value of another lane
};

// Entries that loops visit by number.
struct NumberedEntries {
  std::map<std::string, Positions> of_row;    // by variable: the row whose entries it counts
  std::map<std::string, Positions> of_chunk;  // by operand: the chunk's part of the row
  std::map<std::string, loop::Expr> at_hand;  // by operand: the current entry of a loop
};

// The current row, if chunks share rows. Null if rows are whole.
struct CutRow {
  loop::Expr is_shared;          // several chunks have a part of the row
  loop::Expr chunk, last_chunk;  // the current chunk, and the last chunk of the row
  loop::Expr begins_here, ends_here;
};

// A row of a result under construction: the slot above it and the first position of its entries.
struct ResultRow {
  loop::Expr parent, begin;
};

// The entry of the result under construction, by result group.
struct ResultEntry {
  std::map<int, ResultRow> rows;
  std::map<int, loop::Expr> appended;  // its position in each group
};

// How assignments store their values.
struct Storing {
  bool by_atomics = false;   // results are added by atomics
  loop::Expr condition;      // results are stored under this condition; null: always
  bool producing = false;    // inside a producer, which stores no part of the result
  bool conditional = false;  // the point may be skipped after the last append point
  bool touched = false;      // the entry under construction certainly exists
};

// The place of a thread in its block.
struct ThreadPlace {
  bool in_warp = false;         // inside a loop over warps
  loop::Expr warp;              // the number of the warp; null outside of these loops
  loop::Expr lane;              // the number of the lane; null outside of loops over lanes
  int64_t lanes = 1;            // the number of lanes at this point, inside a loop over lanes
  bool on_one_thread = false;   // inside a loop over lanes or threads, and not shared by a group
  bool visits_padding = false;  // loops run past extents so that lanes do not diverge
};

struct KernelScope {
  BoundCoordinates coordinates;
  std::map<int, Cursor> cursors;  // by access id
  AccessSet absent;               // accesses without an entry here
  // Accesses that may have an entry here, by id: whether they have one. Only with one body for all
  // points of a lattice.
  std::map<int, loop::Expr> here;
  ReadsInstead reads;
  NumberedEntries entries;
  CutRow row;
  ResultEntry result;
  Storing storing;
  ThreadPlace thread;
};

// The scope inside a producer.
inline KernelScope producing(KernelScope scope) {
  scope.storing.producing = true;
  return scope;
}

}  // namespace tulle::lower
