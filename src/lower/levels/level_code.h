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

// A run of positions; a null `end` means the one position `begin`.
struct Positions {
  loop::Expr begin;
  loop::Expr end;

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
  // The positions below the parent's.
  virtual Positions positions(Emitter& out, const Positions& parent) const = 0;
  // The coordinate at a position, as an index.
  virtual loop::Expr coordinate(const loop::Expr& position) const = 0;
  // The position that the levels below hang from; most levels hand their own on.
  virtual loop::Expr child(const loop::Expr& position) const { return position; }
  // The position of a coordinate in a full level.
  virtual loop::Expr locate(const loop::Expr& parent, const loop::Expr& coordinate) const;
  // Where the coordinates lie, for looking ahead; null where they are not stored.
  virtual loop::Buffer coordinates() const { return nullptr; }
  // The first position of the parent at `parent`, where positions are stored for a range of
  // parents; null otherwise.
  virtual loop::Buffer positions_buffer() const { return nullptr; }

  // --- building a result ---
  // Writes the coordinate of the entry at `position`.
  virtual void insert(Emitter&, const loop::Expr&, const loop::Expr&) const {}
  // Everything below `parent` has been inserted; `end` is the next free position.
  virtual void finish(Emitter&, const loop::Expr&, const loop::Expr&) const {}
  // Once, before anything else.
  virtual void open(Emitter&) const {}
};

struct LevelArrays {
  loop::Buffer pos, crd;  // null where the kind stores none
  loop::Expr extent;      // of the level's coordinates
};

std::unique_ptr<LevelCode> make_level_code(const Level& level, const LevelArrays& arrays);

}  // namespace tulle::lower
