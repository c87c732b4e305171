// The state at a point of a kernel under construction.
#pragma once

#include <map>
#include <string>

#include "lower/coordinates.h"
#include "lower/lattice.h"
#include "lower/levels/level_code.h"

namespace tulle::lower {

// How far an access is resolved: the levels before `level` are fixed, at these positions of the
// last fixed one.
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

// Accesses that do not simply read at their cursors, by access id.
struct ReadsInstead {
  std::map<int, loop::Expr> masks;   // read as zero where the condition is false
  std::map<int, loop::Expr> values;  // have this value
  std::map<int, Partner> partners;   // read the value of another lane
};

// Entries that loops visit by number.
struct NumberedEntries {
  std::map<std::string, Positions> of_row;    // by variable: the row whose entries are counted
  std::map<std::string, Positions> of_chunk;  // by operand: the part of the row that a chunk has
  std::map<std::string, loop::Expr> at_hand;  // by operand: the current entry of a loop
};

// The row at hand, if chunks share rows. Null where rows are whole.
struct CutRow {
  loop::Expr is_shared;          // several chunks have a part of it
  loop::Expr chunk, last_chunk;  // the chunk at hand, and the last one with a part of the row
  loop::Expr begins_here, ends_here;
};

// A row of a result under construction: the slot above it, and where its entries begin.
struct ResultRow {
  loop::Expr parent, begin;
};

// The entry of the result under construction, by result group.
struct ResultEntry {
  std::map<int, ResultRow> rows;
  std::map<int, loop::Expr> appended;  // its position
};

// How assignments store their values.
struct Storing {
  bool by_atomics = false;   // results are added by atomics
  loop::Expr condition;      // results are stored if it holds; null: always
  bool producing = false;    // inside a producer: no part of the result yet
  bool conditional = false;  // the point may be missed since the last append point
  bool touched = false;      // the entry under construction is known to exist
};

// The place of a thread in its block.
struct ThreadPlace {
  bool in_warp = false;         // inside a loop over warps
  loop::Expr warp;              // its number; null outside of these loops
  loop::Expr lane;              // the number of the lane; null outside of loops over lanes
  int64_t lanes = 1;            // that share this point, where there is a lane
  bool on_one_thread = false;   // inside a loop over lanes or threads, not shared by a group
  bool visits_padding = false;  // loops run past extents, so that lanes stay together
};

struct KernelScope {
  BoundCoordinates coordinates;
  std::map<int, Cursor> cursors;  // by access id
  AccessSet absent;               // accesses known to have no entry here
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
