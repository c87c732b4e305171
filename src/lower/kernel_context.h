// What the parts of one kernel's lowering share: the nest, its tensors as the kernel sees them, and
// the names that are taken.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lower/emitter.h"
#include "lower/levels/tracked.h"
#include "lower/monoid.h"
#include "lower/scope.h"
#include "nest/bound_loops.h"

namespace tulle::lower {

// Compute writes a result whose structure is known, Merge the rows of it that several chunks have
// pieces of; a sparse result is counted first and filled afterwards.
enum class Phase : uint8_t { Compute, Merge, Count, Fill };

// What is lowered at a point of a kernel.
using Body = std::function<void(const Scope&, Emitter&)>;

// Where the values of a tensor are. A scalar workspace is a variable instead of a buffer.
struct ValuePlace {
  loop::Buffer values;
  loop::Expr base;  // where a worker's own values begin; null: at 0
  loop::Expr scalar;
  std::vector<std::unique_ptr<LevelCode>> levels;
};

// A tensor as this kernel sees it.
struct TensorCode : ValuePlace {
  std::unique_ptr<TrackedArrays> tracked;
  int64_t elements = 1;   // of an array that a thread keeps, where that is known
  loop::Expr size;        // the same in any case, of an array
  bool is_ahead = false;  // a copy that the loop around has made before
  Lead lead;              // what its last term did, where other workspaces go with it
  loop::Expr written;  // mutable bool: a scalar workspace that was assigned; null where nobody asks
};

struct KernelContext {
  // Of a nest with one result.
  KernelContext(const nest::Nest& n, Phase p);

  // Whether a sparse result comes into being.
  bool assembles() const { return phase == Phase::Count || phase == Phase::Fill; }
  // Whether loops of the nest are bound to a GPU, so that there are no chunks.
  bool is_bound() const { return nest::has_bound_loops(nest.root); }

  // Calls `body` for each element that a thread has of a workspace, with its number and its value.
  void for_elements(
      const std::string& workspace, Emitter& out,
      const std::function<void(const loop::Expr&, const loop::Expr&, Emitter&)>& body);

  const nest::Nest& nest;
  const Phase phase;
  const Coordinates coordinates;
  Names names;
  std::map<std::string, TensorCode> tensors;
  std::string result;
  std::vector<std::string> result_indices;
  loop::Expr chunks;  // how many there are; the kernel's parallel loop runs over them
  // Where a chunk has several members: whether the one at hand is that which stores the structure
  // of a result; null where there is one.
  loop::Expr stores_structure;
  bool has_conditional_entries = false;  // which are there if something is assigned to them
};

}  // namespace tulle::lower
