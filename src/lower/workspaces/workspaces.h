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

// Keeps references to what it is given. Memory that outlives a chunk is allocated in `hoisted`,
// before the outermost loop of a chunk.
class Workspaces {
 public:
  Workspaces(KernelContext& kernel, const ResultLevels& result, KernelFrame& frame,
             Emitter& hoisted)
      : kernel_(kernel), result_(result), frame_(frame), hoisted_(hoisted) {}

  // Allocates a workspace that the statement fills. It starts at the identity of its accumulation.
  void allocate(const nest::Where& where, const std::string& name, Emitter& out);

 private:
  void allocate_scalar(const std::string& name, nest::Accumulate accumulate, Emitter& out);
  void allocate_array(const std::string& name, const OwnElements& own, Emitter& out);
  // Places an array in registers, or in memory that outlives a chunk.
  void place_array(const std::string& name, const loop::Expr& size, Emitter& out);
  void allocate_tracked(const std::string& name, const std::vector<std::string>& indices,
                        Emitter& out);
  TrackedArrays tracked_arrays(const std::string& name, const std::vector<std::string>& indices);
  // Whether its values and the list of its coordinates are needed, and not only their number.
  bool stores_values(const std::vector<std::string>& indices, const loop::Expr& block) const;
  // Whether each coordinate that a tracked workspace over these variables notes is an entry: where
  // it is an index, or blocks of one whose insides are not chosen outside.
  bool tracks_entries(const std::vector<std::string>& indices) const;

  KernelContext& kernel_;
  const ResultLevels& result_;
  KernelFrame& frame_;
  Emitter& hoisted_;
  const std::set<std::string> told_from_zero_ =
      nest::told_from_zero(kernel_.nest);  // where they are absent
};

}  // namespace tulle::lower
