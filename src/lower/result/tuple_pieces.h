// Rows that several chunks gather in workspaces: tuples, and with parallel(by=merge) single sums
// too. Each chunk stores its piece, the contents of its workspaces, in memory. A second kernel over
// the same loops merges the pieces and computes the result from the merged workspaces.
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

  // Whether the kernel has pieces, and whether the statement gathers them.
  bool any() const;
  bool gathers(const nest::Where& where) const;

  // Stores the piece of a chunk, and merges the pieces of all chunks into the workspaces.
  void store(const nest::Where& where, const KernelScope& scope, Emitter& out);
  void merge(const nest::Where& where, const KernelScope& scope, Emitter& out);

  // The arrays of pieces with their sizes, after all calls of these.
  const std::vector<std::pair<loop::Buffer, loop::Expr>>& arrays() const { return arrays_; }

 private:
  struct Team {
    int64_t size = 1;
    loop::Expr lane;  // null: one thread has all parts
  };
  struct Pieces {
    loop::Buffer values;
    loop::Expr elements;
  };

  Team team_of(const nest::Where& where, const KernelScope& scope) const;
  void on_team(const Team& team, const KernelScope& scope, int64_t lanes, Emitter& out,
               const std::function<void(const loop::Expr&, Emitter&)>& body);
  loop::Expr piece_number(const loop::Expr& chunk, const loop::Expr& begins_here,
                          const KernelScope& scope) const;
  loop::Expr piece_count() const;
  Pieces pieces_of(const std::string& workspace, const Team& team);

  KernelContext& kernel_;
  std::vector<std::pair<loop::Buffer, loop::Expr>> arrays_;
};

}  // namespace tulle::lower
