// Rows whose tuples several chunks gather: each chunk puts its piece of the tuple into memory, and
// a second kernel over the same loops merges these and goes on with what they come to.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lower/kernel_context.h"

namespace tulle::lower {

// Keeps a reference to the kernel.
class TuplePieces {
 public:
  explicit TuplePieces(KernelContext& kernel) : kernel_(kernel) {}

  // Whether there are any; whether the statement gathers what they are pieces of.
  bool any() const;
  bool gathers(const nest::Where& where) const;

  // Puts what a chunk has gathered of a row into memory; adds what all chunks have to it.
  void store(const nest::Where& where, const Scope& scope, Emitter& out);
  void merge(const nest::Where& where, const Scope& scope, Emitter& out);

  // After these: the arrays of pieces and their sizes.
  const std::vector<std::pair<loop::Buffer, loop::Expr>>& arrays() const { return arrays_; }

 private:
  struct Team {
    int64_t size = 1;
    loop::Expr lane;  // null where one thread has all
  };
  struct Pieces {
    loop::Buffer values;
    loop::Expr elements;
  };

  Team team_of(const nest::Where& where, const Scope& scope) const;
  void on_team(const Team& team, const Scope& scope, int64_t lanes, Emitter& out,
               const std::function<void(const loop::Expr&, Emitter&)>& body);
  loop::Expr piece_number(const loop::Expr& chunk, const loop::Expr& begins_here,
                          const Scope& scope) const;
  loop::Expr piece_count() const;
  Pieces pieces_of(const std::string& workspace, const Team& team);

  KernelContext& kernel_;
  std::vector<std::pair<loop::Buffer, loop::Expr>> arrays_;
};

}  // namespace tulle::lower
