// A level kind as code: how loop IR walks over, finds, and builds a level of that kind.
//
// Nothing else in lowering knows what kinds there are: a new one is one class here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/level.h"
#include "loop/expr.h"
#include "lower/emitter.h"

namespace tulle::lower {

// A run of positions; a null `end` means the one position `begin`. Where positions tell
// coordinates, `base` is that of coordinate 0.
struct Positions {
  loop::Expr begin;
  loop::Expr end;
  loop::Expr base = {};

  bool is_single() const { return !end; }
};

class LevelCode {
 public:
  virtual ~LevelCode() = default;

  // Holds every coordinate, so that it is found by arithmetic.
  virtual bool is_full() const { return false; }
  virtual bool is_unique() const { return true; }
  virtual bool is_ordered() const { return true; }

  // --- reading ---
  // Before positions() is called the first time in a scope (sorting a list, say).
  virtual void prepare(Emitter&) const {}
  // The positions below the parent's. `above` is the coordinate that bounds follow from, null for
  // levels whose bounds do not.
  virtual Positions positions(Emitter& out, const Positions& parent,
                              const loop::Expr& above) const = 0;
  // The run, or a part of it that ends where another part or a row does, without unused slots.
  virtual Positions used(Emitter&, const Positions& run) const { return run; }
  // The coordinate at a position of that run, as an index.
  virtual loop::Expr coordinate(const loop::Expr& position, const Positions& run) const = 0;
  // Whether positions of a run may hold no entry, and whether this one does.
  virtual bool has_holes() const { return false; }
  virtual loop::Expr holds(const loop::Expr& position) const;
  // The parent position for the levels below; for most levels the position itself.
  virtual loop::Expr child(const loop::Expr& position) const { return position; }
  // Whether a coordinate's position follows from the parent's by arithmetic, and that position.
  virtual bool is_direct() const { return false; }
  virtual loop::Expr locate(const loop::Expr& parent, const loop::Expr& coordinate) const;
  // The position of a coordinate in a run, and whether it has an entry there; the run is searched,
  // unless arithmetic tells.
  virtual bool finds_by_arithmetic() const { return false; }
  struct Found {
    loop::Expr at, found;
  };
  virtual Found find(Emitter& out, const Positions& run, const loop::Expr& coordinate) const;
  // Where the coordinates lie, for looking ahead; null where they are not stored.
  virtual loop::Buffer coordinates() const { return nullptr; }
  // The first position of the parent at `parent`, where positions are stored for a range of
  // parents; null otherwise.
  virtual loop::Buffer positions_buffer() const { return nullptr; }

  // --- building a result ---
  // Positions are handed out by counting on; levels that do otherwise need to know the row that
  // they are in.
  virtual bool needs_row() const { return false; }
  // Where the entries of a parent begin, if `next` is the next free position.
  virtual loop::Expr row_begin(const loop::Expr&, const loop::Expr& next) const { return next; }
  // The position of the next entry of a row that begins at `begin`.
  virtual loop::Expr slot(const loop::Expr& parent, const loop::Expr& begin, const loop::Expr& next,
                          const loop::Expr& coordinate) const;
  // The counter of a chunk after that entry.
  virtual loop::Expr count(const loop::Expr& position, const loop::Expr& next) const;
  // The next free position after a row of which the last entry is followed by `next`.
  virtual loop::Expr row_end(const loop::Expr& next) const { return next; }
  // Whether a row has as many positions as entries.
  virtual bool counts_entries() const { return true; }
  // The most entries that a row holds; 0 where there is no bound.
  virtual int64_t most_entries() const { return 0; }
  // Whether rows without entries need finish() too.
  virtual bool finishes_rows() const { return true; }
  // Writes the coordinate of the entry at `position`.
  virtual void insert(Emitter&, const loop::Expr&, const loop::Expr&) const {}
  // Everything below `parent` has been inserted; `next` is the position after the last entry.
  virtual void finish(Emitter&, const loop::Expr&, const loop::Expr&) const {}
  // Once, before anything else.
  virtual void open(Emitter&) const {}
};

struct LevelArrays {
  loop::Buffer pos, crd;  // null where the kind stores none
  loop::Expr extent;      // of the level's coordinates
  loop::Expr second;      // of kinds that are bounded: the extent of the dimension that bounds them
};

std::unique_ptr<LevelCode> make_level_code(const Level& level, const LevelArrays& arrays);

}  // namespace tulle::lower
