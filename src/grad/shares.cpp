// Adding shares.
#include "grad/shares.h"

#include <algorithm>
#include <utility>

#include "expr/rename_indices.h"
#include "expr/walk.h"
#include "grad/build.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::grad {

using expr::Expr;

namespace {

using Indices = std::vector<std::string>;

// The operations of one term. A statement may have 250, and a derivative of the statement has
// several times as many in a share.
constexpr int kMostOperations = 40;

int operations_in(const Expr& value) {
  int count = 0;
  expr::any_part(value, [&](const Expr& part) {
    if (!part.as<expr::Access>() && !part.as<expr::Literal>()) ++count;
    return false;
  });
  return count;
}

Indices bound_indices(const Expr& value) {
  Indices bound;
  expr::any_part(value, [&](const Expr& part) {
    if (const auto* reduce = part.as<expr::Reduce>()) {
      bound.insert(bound.end(), reduce->indices.begin(), reduce->indices.end());
    }
    return false;
  });
  return bound;
}

// The value of a share at the coordinates `indices`. The share of a diagonal is 0 beside it.
Expr at(const Share& share, const Indices& indices, Names& names) {
  expr::Renames renames;
  for (size_t d = 0; d < indices.size(); ++d) renames.emplace(share.indices[d], indices[d]);
  // An index of the value that has the name of a dimension by chance gets another one.
  for (const std::string& index : bound_indices(share.value)) {
    if (contains(indices, index) && !renames.contains(index)) renames[index] = names.fresh(index);
  }
  Expr value = expr::renamed_indices(share.value, renames);
  for (size_t d = 0; d < indices.size(); ++d) {
    const std::string& named = renames.at(share.indices[d]);
    if (named == indices[d] || mutant("diagonal-everywhere")) continue;
    const Expr beside =
        expr::IndexValue::make(indices[d], false) - expr::IndexValue::make(named, false);
    value = where(beside, number(0), value);
  }
  return value;
}

// A text that is equal for values that differ only in the names of bound indices.
std::string text_of(const Expr& value) {
  expr::Renames renames;
  for (const std::string& index : bound_indices(value)) {
    renames.try_emplace(index, concat("bound.", renames.size()));
  }
  return expr::to_string(expr::renamed_indices(value, renames));
}

}  // namespace

Indices names_of_dimensions(const std::vector<Share>& shares, Names& names) {
  Indices indices;
  for (const std::string& index : shares[0].indices) {
    indices.push_back(contains(indices, index) ? names.fresh(index) : index);
  }
  return indices;
}

std::vector<Expr> terms_of(const std::vector<Share>& shares, const Indices& indices, Names& names) {
  struct Counted {
    std::string text;
    Expr value;
    int count;
  };
  std::vector<Counted> different;
  for (const Share& share : shares) {
    const Expr value = at(share, indices, names);
    const std::string text = text_of(value);
    const auto same = std::find_if(different.begin(), different.end(),
                                   [&](const Counted& one) { return one.text == text; });
    if (same == different.end()) {
      different.push_back({text, value, 1});
    } else if (!mutant("equal-shares-once")) {
      ++same->count;
    }
  }
  std::vector<Expr> terms;
  int operations = 0;  // of the last term
  for (const auto& [text, value, count] : different) {
    const Expr term = count == 1 ? value : number(count) * value;
    const int own = operations_in(term);
    if (mutant("last-term-lost") && terms.size() > 1) break;
    if (terms.empty() || operations + own > kMostOperations) {
      terms.push_back(term);
      operations = own;
    } else {
      terms.back() = terms.back() + term;
      operations += own + 1;
    }
  }
  return terms;
}

}  // namespace tulle::grad
