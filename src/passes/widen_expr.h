// Vector forms of expressions: ramps stay ramps, what is equal in all lanes stays a scalar.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loop/fresh_names.h"
#include "loop/stmt.h"

namespace tulle::passes {

// The lanes that an expression is evaluated for.
struct Active {
  loop::Expr mask;      // null: all
  bool certain = true;  // at least one lane is active, so that a scalar load is safe
};

class ExprWidener {
 public:
  // `existing`: the mask of the lanes that exist, null for all; `padded`: the buffers with room for
  // the others.
  ExprWidener(int lanes, loop::Expr existing, std::set<std::string> padded, loop::FreshNames& names)
      : lanes_(lanes), existing_(std::move(existing)), padded_(std::move(padded)), names_(names) {}

  // A scalar if all lanes agree. Memory is only touched in active lanes.
  loop::Expr widen(const loop::Expr& expr, const Active& active);
  // The same, as a vector in any case.
  loop::Expr widen_to_vector(const loop::Expr& expr, const Active& active);
  loop::Expr broadcast(const loop::Expr& value) const;

  // The predicate that an access to `buffer` needs; null for none.
  loop::Expr predicate_for(const loop::BufferNode& buffer, const loop::Expr& mask) const;

  // A mask under a name of its own, declared by the lets below.
  loop::Expr name_mask(const loop::Expr& mask);
  // The lets that what was widened since the last call needs before it.
  std::vector<loop::Stmt> take_lets() { return std::exchange(lets_, {}); }

  // What stands for each name that differs between lanes.
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

// Where both are true; either may be null, which is true everywhere.
loop::Expr both_masks(const loop::Expr& a, const loop::Expr& b);

}  // namespace tulle::passes
