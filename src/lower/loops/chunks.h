// Cuts the outermost loop into chunks of equal work.
#pragma once

#include <functional>
#include <string>

#include "lower/frame.h"
#include "lower/kernel_context.h"
#include "lower/loops/loop_bounds.h"

namespace tulle::lower {

// The number of positions of a level as a host expression. Null if the host does not have it.
loop::Expr known_positions(const KernelContext& kernel, const std::string& tensor, size_t level);

// Keeps references to its arguments.
class Chunks {
 public:
  Chunks(KernelContext& kernel, KernelFrame& frame) : kernel_(kernel), frame_(frame) {}

  // Whether the loop is cut into chunks.
  bool is_cut(const nest::Forall& loop) const;
  // The current chunk of the coordinates below `extent`, by rows or by rows and entries.
  LoopBounds of_rows(const nest::Forall& loop, const KernelScope& scope, const loop::Expr& extent,
                     Emitter& out);
  // The current chunk of the positions of a level.
  LoopBounds of_positions(const Cursor& cursor, const Positions& positions, Emitter& out);

  // The work of the rows of an operand with a compressed level 1: the number of rows plus entries.
  Work work_of_rows(const std::string& tensor, const loop::Buffer& positions,
                    const loop::Expr& rows, Emitter& out) const;
  // Finds the bounds of the current chunk and stores them in variables with these names. `cut`
  // finds the start of a chunk by its number.
  LoopBounds ends(const std::string& begin_name, const std::string& end_name,
                  const std::function<loop::Expr(const loop::Expr& number, Emitter&)>& cut,
                  Emitter& out);

 private:
  KernelContext& kernel_;
  KernelFrame& frame_;
};

}  // namespace tulle::lower
