// Cutting the outermost loop into chunks of equal work.
#pragma once

#include <functional>
#include <string>

#include "lower/frame.h"
#include "lower/kernel_context.h"
#include "lower/loops/loop_bounds.h"

namespace tulle::lower {

// How many positions a level of the operand has, as the host knows it; null where it does not.
loop::Expr known_positions(const KernelContext& kernel, const std::string& tensor, size_t level);

// Keeps references to what it is given.
class Chunks {
 public:
  Chunks(KernelContext& kernel, KernelFrame& frame) : kernel_(kernel), frame_(frame) {}

  // Whether the loop is cut into chunks.
  bool is_cut(const nest::Forall& loop) const;
  // The chunk at hand of the coordinates below `extent`, by rows or by rows and entries.
  LoopBounds of_rows(const nest::Forall& loop, const KernelScope& scope, const loop::Expr& extent,
                     Emitter& out);
  // The chunk at hand of the positions of a level.
  LoopBounds of_positions(const Cursor& cursor, const Positions& positions, Emitter& out);

  // The work of rows along a compressed level 1 of the operand: the entries of all rows and the
  // rows themselves.
  Work work_of_rows(const std::string& tensor, const loop::Buffer& positions,
                    const loop::Expr& rows, Emitter& out) const;
  // Finds where the chunk begins and ends, in variables of these names: `cut` finds where a chunk
  // of a number begins.
  LoopBounds ends(const std::string& begin_name, const std::string& end_name,
                  const std::function<loop::Expr(const loop::Expr& number, Emitter&)>& cut,
                  Emitter& out);

 private:
  KernelContext& kernel_;
  KernelFrame& frame_;
};

}  // namespace tulle::lower
