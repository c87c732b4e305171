// What is known at a point of a kernel under construction: bound coordinates and where each operand
// stands.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "lower/lattice.h"
#include "lower/levels/level_code.h"
#include "nest/nest.h"

namespace tulle::lower {

// How far an access is resolved: the levels before `level` are fixed, at these positions of the
// last fixed one.
struct Cursor {
  const expr::Access* access = nullptr;
  int level = 0;
  Positions at;
};

// A row of a result under construction: the slot above it, and where its entries begin.
struct Row {
  loop::Expr parent, begin;
};

// The lane so far from this one, in a group of so many.
struct Partner {
  int64_t distance = 0;
  int width = 0;
};

struct Scope {
  std::map<std::string, loop::Expr> coordinates;  // of bound variables
  std::map<int, Cursor> cursors;                  // by access id
  AccessSet absent;                               // accesses known to have no entry here
  std::map<int, loop::Expr> masks;  // accesses that read as zero where the condition is false
  std::map<int, Row> rows;          // of the entries under construction, by result group
  std::map<std::string, Positions> pieces;  // variables whose entries are counted: those of a row
  std::map<std::string, Positions> chunk_entries;  // operands: those of the row that a chunk has
  std::map<std::string, loop::Expr> entries;       // operands at one of whose entries a loop stands
  loop::Expr is_shared_row;                        // by several chunks; null where rows are whole
  loop::Expr chunk, last_chunk, begins_here;  // of a row: this one, its last, whether it is first
  loop::Expr ends_here;                       // whether the row does; null where rows are whole
  bool by_atomics = false;                    // results are added to what is there
  loop::Expr stores_if;                       // whether results are stored; null: always
  std::map<int, loop::Expr> values;           // accesses whose value is known
  std::map<int, Partner> partners;            // accesses that read what another lane has
  bool visits_padding = false;         // loops run past extents, through all slots of workspaces
  std::map<int, loop::Expr> appended;  // position of the entry under construction, by result group
  bool conditional = false;    // whether this point may be missed since the last append point
  bool touched = false;        // whether the entry under construction is known to exist
  bool producing = false;      // inside a producer: what is assigned is no part of the result yet
  bool in_warp = false;        // inside a loop over warps
  loop::Expr warp;             // the number of the warp; null outside of these
  bool on_one_thread = false;  // inside a loop over lanes or threads, not shared by a group
  loop::Expr lane;             // the number of the lane; null outside of loops over lanes
  int64_t lanes = 1;           // that share this point, where there is a lane
};

// Index arithmetic over the variables of a nest.
class Coordinates {
 public:
  explicit Coordinates(const nest::Nest& nest) : nest_(nest) {}

  // How many coordinates a variable has, and the first of them.
  loop::Expr extent(const std::string& var) const;
  loop::Expr first(const std::string& var) const;
  // How many rows and entries all chunks of rows have together, and how many one has.
  loop::Expr work(const nest::Variable& chunks) const;
  loop::Expr chunk_length(const nest::Variable& chunks) const;
  // Whether every loop of the statement has something to visit, by the extents alone.
  loop::Expr runs(const nest::Stmt& stmt) const;
  // The loop bound of a variable in this scope: its extent, shortened where the other half of a
  // split is bound already; the variables of `padded` keep their extent.
  loop::Expr bound(const std::string& var, const Scope& scope,
                   const std::set<std::string>& padded = {}) const;
  // The coordinate of a variable, bound itself or through variables derived from it; null while not
  // known.
  loop::Expr coordinate(const std::string& var, const Scope& scope) const;
  // The same of a variable whose loops others have taken the place of: also from those that it is
  // split or fused from.
  loop::Expr rebuilt(const std::string& var, const Scope& scope) const;
  // Of a level of a tensor with these indices; null while not known.
  loop::Expr level_coordinate(const LevelExpr& level, const std::vector<std::string>& indices,
                              const Scope& scope) const;
  loop::Expr level_extent(const LevelExpr& level, const std::vector<std::string>& indices) const;
  // Whether the loop over `var` visits exactly the coordinates of that level.
  bool is_level_variable(const LevelExpr& level, const std::vector<std::string>& indices,
                         const std::string& var) const;

 private:
  // The outer (inner) variable of a split of `parent` by `factor` that is bound in the scope;
  // factor 0 for any.
  std::optional<std::pair<std::string, std::string>> bound_split(const std::string& parent,
                                                                 int64_t factor,
                                                                 const Scope& scope) const;

  const nest::Nest& nest_;
};

}  // namespace tulle::lower
