// Computes extents from accesses.
#include "grad/extents.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "expr/rename_indices.h"
#include "expr/walk.h"
#include "grad/build.h"
#include "support/check.h"

namespace tulle::grad {

using expr::Access;
using expr::Expr;

namespace {

// The access with the fewest indices among those that have the index.
const Access& defining_access(const Expr& source, const std::string& index) {
  const Access* found = nullptr;
  for (const Access* read : expr::accesses(source)) {
    const bool is_smaller = !found || read->indices.size() < found->indices.size();
    if (contains(read->indices, index) && is_smaller) found = read;
  }
  if (!found) internal_error("no access has the index ", index);
  return *found;
}

}  // namespace

// The sum of zeros makes the statement read the tensor, which defines the extent.
Expr Extents::of(const Expr& source, const std::string& index) {
  const Access& read = defining_access(source, index);
  expr::Renames renames;
  for (const std::string& one : read.indices) renames.try_emplace(one, names_.fresh(one));
  std::vector<std::string> bound;
  for (const auto& [old, fresh] : renames) bound.push_back(fresh);
  const Expr entries =
      apply(expr::ElementFunction::Ones, access(read.tensor, expr::renamed(read.indices, renames)));
  const std::string name = names_.fresh(concat("extent_", index));
  statements_.push_back({name, {}, extent(renames.at(index)) + number(0) * sum(bound, entries)});
  return access(name, {});
}

Expr Extents::defined(const Expr& value, const Expr& source) {
  std::vector<std::string> known;
  for (const Access* read : expr::accesses(value))
    known.insert(known.end(), read->indices.begin(), read->indices.end());
  std::map<std::string, Expr> scalars;
  const std::function<Expr(const Expr&)> rewrite = [&](const Expr& part) {
    const auto* index = part.as<expr::IndexValue>();
    if (!index || !index->is_extent || contains(known, index->index))
      return expr::with_children(part, rewrite);
    Expr& scalar = scalars[index->index];
    if (!scalar) scalar = of(source, index->index);
    return scalar;
  };
  return rewrite(value);
}

std::vector<expr::Statement> Extents::take_statements() { return std::exchange(statements_, {}); }

}  // namespace tulle::grad
