// Allocates workspaces: a scalar in a register, a small array in registers or on the stack, a
// tracked row in memory.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lower/frame.h"
#include "lower/kernel_context.h"
#include "lower/result/result_levels.h"
#include "lower/workspaces/own_elements.h"
#include "nest/absence.h"

namespace tulle::lower {

// Keeps references to its arguments. Memory that outlives a chunk is allocated in `hoisted`, before
// the outermost loop of a chunk.
class Workspaces {
 public:
  Workspaces(KernelContext& kernel, const ResultLevels& result, KernelFrame& frame,
             Emitter& hoisted)
      : kernel_(kernel), result_(result), frame_(frame), hoisted_(hoisted) {}

  // Allocates a workspace that the statement fills. Initialises it with the identity of its
  // accumulation.
  void allocate(const nest::Where& where, const std::string& name, Emitter& out);

 private:
  void allocate_scalar(const std::string& name, nest::Accumulate accumulate, Emitter& out);
  void allocate_array(const std::string& name, const OwnElements& own, Emitter& out);
  // Puts an array into registers, or into memory that outlives a chunk.
  void place_array(const std::string& name, const loop::Expr& size, Emitter& out);
  void allocate_tracked(const std::string& name, const std::vector<std::string>& indices,
                        Emitter& out);
  TrackedArrays tracked_arrays(const std::string& name, const std::vector<std::string>& indices);
  // Whether the kernel needs the workspace's values and its list of coordinates, not only their
  // number.
  bool stores_values(const std::vector<std::string>& indices, const loop::Expr& block) const;
  // Whether each coordinate in a tracked workspace over these variables is an entry. It is if the
  // first variable is an index, or runs over blocks whose insides the workspace contains.
  bool tracks_entries(const std::vector<std::string>& indices) const;

  KernelContext& kernel_;
  const ResultLevels& result_;
  KernelFrame& frame_;
  Emitter& hoisted_;
  const std::set<std::string> told_from_zero_ =
      nest::told_from_zero(kernel_.nest);  // workspaces whose absence matters
};

}  // namespace tulle::lower
