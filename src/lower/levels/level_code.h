// The code of a level kind: loop IR that walks over, searches and builds a level.
//
// Other code in lowering does not depend on the set of kinds. A new kind is one class here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/level.h"
#include "loop/expr.h"
#include "lower/emitter.h"

namespace tulle::lower {

// A run of positions. A null `end` means the single position `begin`. If positions determine
// coordinates, `base` is the position of coordinate 0.
struct Positions {
  loop::Expr begin;
  loop::Expr end;
  loop::Expr base = {};

  bool is_single() const { return !end; }
};

class LevelCode {
 public:
  virtual ~LevelCode() = default;

  // Has a slot for every coordinate, so positions need no search.
  virtual bool is_full() const { return false; }
  virtual bool is_unique() const { return true; }
  virtual bool is_ordered() const { return true; }

  // --- reading ---
  // Emits code before the first call of positions() in a scope, for example to sort a list.
  virtual void prepare(Emitter&) const {}
  // The positions below the parent's. `above` is the coordinate that determines the bounds, or null
  // for levels without such bounds.
  virtual Positions positions(Emitter& out, const Positions& parent,
                              const loop::Expr& above) const = 0;
  // The run, which may be a part of a longer one, without its unused slots.
  virtual Positions used(Emitter&, const Positions& run) const { return run; }
  // The coordinate at a position of that run, as an index.
  virtual loop::Expr coordinate(const loop::Expr& position, const Positions& run) const = 0;
  // Whether positions of a run may have no entry, and whether this one has an entry.
  virtual bool has_holes() const { return false; }
  virtual loop::Expr holds(const loop::Expr& position) const;
  // The parent position for the levels below: for most levels the position itself.
  virtual loop::Expr child(const loop::Expr& position) const { return position; }
  // Whether arithmetic gives a coordinate's position from the parent's, and that position.
  virtual bool is_direct() const { return false; }
  virtual loop::Expr locate(const loop::Expr& parent, const loop::Expr& coordinate) const;
  // Whether `find` computes the position instead of searching. Unlike in a direct level, the
  // position may have no entry.
  virtual bool finds_by_arithmetic() const { return false; }
  struct Found {
    loop::Expr at, found;
  };
  // The position of a coordinate in a run, and whether it has an entry there. Searches the run
  // unless arithmetic gives the position.
  virtual Found find(Emitter& out, const Positions& run, const loop::Expr& coordinate) const;
  // The stored coordinates, for prefetching. Null if the level stores none.
  virtual loop::Buffer coordinates() const { return nullptr; }
  // The array with the first position of each parent, if the level stores these. Null otherwise.
  virtual loop::Buffer positions_buffer() const { return nullptr; }

  // --- building a result ---
  // Whether the level computes slots from their row. Other levels take the next free position.
  virtual bool needs_row() const { return false; }
  // The first position of a parent's entries. `next` is the next free position.
  virtual loop::Expr row_begin(const loop::Expr&, const loop::Expr& next) const { return next; }
  // The position of the next entry in a row that begins at `begin`.
  virtual loop::Expr slot(const loop::Expr& parent, const loop::Expr& begin, const loop::Expr& next,
                          const loop::Expr& coordinate) const;
  // The counter of a chunk after that entry.
  virtual loop::Expr count(const loop::Expr& position, const loop::Expr& next) const;
  // The next free position after a row whose last entry precedes `next`.
  virtual loop::Expr row_end(const loop::Expr& next) const { return next; }
  // Whether a row has one position per entry.
  virtual bool counts_entries() const { return true; }
  // The maximum number of entries in a row. 0: no bound.
  virtual int64_t most_entries() const { return 0; }
  // Whether empty rows need finish() too.
  virtual bool finishes_rows() const { return true; }
  // Writes the coordinate of the entry at `position`.
  virtual void insert(Emitter&, const loop::Expr&, const loop::Expr&) const {}
  // Finishes `parent` after its last entry; `next` is the position behind that.
  virtual void finish(Emitter&, const loop::Expr&, const loop::Expr&) const {}
  // Emits code that runs once before all other calls.
  virtual void open(Emitter&) const {}
};

struct LevelArrays {
  loop::Buffer pos, crd;  // null if the kind has none
  loop::Expr extent;      // of the level's dimension
  loop::Expr second;      // of the second dimension, for levels whose bounds depend on it
};

std::unique_ptr<LevelCode> make_level_code(const Level& level, const LevelArrays& arrays);

}  // namespace tulle::lower
