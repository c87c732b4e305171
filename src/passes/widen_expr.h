// Vector forms of expressions. Ramps remain ramps, uniform values remain scalars.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loop/fresh_names.h"
#include "loop/stmt.h"

namespace tulle::passes {

// The lanes for which an expression is evaluated.
struct Active {
  loop::Expr mask;      // null: all
  bool certain = true;  // at least one lane is active, so that a scalar load is safe
};

class ExprWidener {
 public:
  // `existing` is the mask of the lanes that exist, null for all. `padded` are the buffers with
  // padding for the other lanes.
  ExprWidener(int lanes, loop::Expr existing, std::set<std::string> padded, loop::FreshNames& names)
      : lanes_(lanes), existing_(std::move(existing)), padded_(std::move(padded)), names_(names) {}

  // A scalar if the value is uniform. Accesses memory in active lanes only.
  loop::Expr widen(const loop::Expr& expr, const Active& active);
  // The same, but always a vector.
  loop::Expr widen_to_vector(const loop::Expr& expr, const Active& active);
  loop::Expr broadcast(const loop::Expr& value) const;

  // The predicate that an access to `buffer` needs; null for none.
  loop::Expr predicate_for(const loop::BufferNode& buffer, const loop::Expr& mask) const;

  // Binds the mask to a name; take_lets() returns the let.
  loop::Expr name_mask(const loop::Expr& mask);
  // Returns the lets that expressions widened since the last call need.
  std::vector<loop::Stmt> take_lets() { return std::exchange(lets_, {}); }

  // The replacement of each name whose value differs between lanes.
  std::map<std::string, loop::Expr>& values() { return values_; }

 private:
  loop::Expr widen_binary(const loop::Binary& expr, const Active& active);
  loop::Expr widen_select(const loop::Select& expr, const Active& active);
  loop::Expr widen_load(const loop::Load& expr, const Active& active);
  bool agrees(const loop::Expr& expr, const Active& active) const;

  int lanes_;
  loop::Expr existing_;
  std::set<std::string> padded_;
  loop::FreshNames& names_;
  std::vector<loop::Stmt> lets_;
  std::map<std::string, loop::Expr> values_;
};

// The conjunction of two masks. A null mask is true everywhere.
loop::Expr both_masks(const loop::Expr& a, const loop::Expr& b);

}  // namespace tulle::passes
