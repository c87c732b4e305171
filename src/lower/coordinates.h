// Index arithmetic over the variables of a nest: split, fused and numbered ones.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loop/expr.h"
#include "nest/nest.h"

namespace tulle::lower {

// The coordinates of bound variables.
using BoundCoordinates = std::map<std::string, loop::Expr>;

class Coordinates {
 public:
  explicit Coordinates(const nest::Nest& nest) : nest_(nest) {}

  // The number of coordinates of a variable, and the first of them.
  loop::Expr extent(const std::string& var) const;
  loop::Expr first(const std::string& var) const;
  // The work of all chunks of rows together, in rows and entries, and the length of one chunk.
  loop::Expr work(const nest::Variable& chunks) const;
  loop::Expr chunk_length(const nest::Variable& chunks) const;
  // Whether every loop of the statement has an iteration, judged by extents alone.
  loop::Expr runs(const nest::Stmt& stmt) const;
  // The end of a loop over the variable: its extent, or less if the other half of a split is
  // already bound. Variables in `padded` keep their extent.
  loop::Expr loop_end(const std::string& var, const BoundCoordinates& bound,
                      const std::set<std::string>& padded = {}) const;
  // The coordinate of a variable that is bound, itself or through variables derived from it. Null
  // if unknown.
  loop::Expr coordinate(const std::string& var, const BoundCoordinates& bound) const;
  // The same for a variable whose loops were replaced. Also computes it from the variables that it
  // was split or fused from.
  loop::Expr rebuilt(const std::string& var, const BoundCoordinates& bound) const;
  // The coordinate of a level of a tensor with these indices. Null if unknown.
  loop::Expr level_coordinate(const LevelExpr& level, const std::vector<std::string>& indices,
                              const BoundCoordinates& bound) const;
  loop::Expr level_extent(const LevelExpr& level, const std::vector<std::string>& indices) const;
  // Whether the loop over `var` visits exactly the coordinates of that level.
  bool is_level_variable(const LevelExpr& level, const std::vector<std::string>& indices,
                         const std::string& var) const;

 private:
  // The bound outer (inner) variable of a split of `parent` by `factor`, with its coordinate.
  // Factor 0 means any.
  std::optional<std::pair<std::string, std::string>> bound_split(
      const std::string& parent, int64_t factor, const BoundCoordinates& bound) const;

  const nest::Nest& nest_;
};

}  // namespace tulle::lower
