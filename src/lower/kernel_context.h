// Data that the parts of one kernel's lowering share: the nest, its tensors as the kernel sees
// them, the taken names, and the facts found so far.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lower/coordinates.h"
#include "lower/emitter.h"
#include "lower/levels/tracked.h"
#include "lower/lowered_kernel.h"
#include "lower/monoid.h"
#include "lower/scope.h"

namespace tulle::lower {

// Lowers the body of a loop at a point of a kernel.
using Body = std::function<void(const KernelScope&, Emitter&)>;

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
  int64_t elements = 1;   // the size of an array that a thread keeps, if it is constant
  loop::Expr size;        // the size of an array
  bool is_ahead = false;  // a copy that the surrounding loop has made before
  Lead lead;              // the effect of its last term, if it leads a tuple
  loop::Expr written;     // mutable bool: a scalar workspace that was assigned; null where unused

  // Whether it lists the coordinates written and has a block of values at each.
  bool has_blocks() const { return tracked && tracked->block; }
};

struct KernelContext {
  // Of a nest with one result. Takes the names of its tensors and extents.
  KernelContext(const nest::Nest& n, KernelRequest r);
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;

  // Whether a sparse result is built.
  bool assembles() const { return phase == Phase::Count || phase == Phase::Fill; }
  // Whether loops of the nest are bound to a GPU, so that there are no chunks.
  bool is_bound() const { return is_bound_; }
  // Where the kernel runs: on a GPU if its loops are bound to one.
  const Options& options() const { return request.options; }
  bool on_gpu() const { return request.options.on_gpu(); }

  TensorCode& code(const std::string& tensor) { return tensors.at(tensor); }
  const TensorCode& code(const std::string& tensor) const { return tensors.at(tensor); }
  // The first unresolved level of the access.
  const Level& level(const Cursor& cursor) const;
  const LevelCode& level_code(const Cursor& cursor) const;
  // Whether the workspace is a copy of an operand.
  bool is_staged(const std::string& workspace) const;

  // Calls `body` for each element that a thread has of a workspace, with its number and its value.
  void for_elements(
      const std::string& workspace, Emitter& out,
      const std::function<void(const loop::Expr&, const loop::Expr&, Emitter&)>& body);

  const nest::Nest& nest;
  const KernelRequest request;
  const Phase phase = request.phase;
  const Coordinates coordinates;
  loop::FreshNames names;
  std::map<std::string, TensorCode> tensors;
  std::string result;
  std::vector<std::string> result_indices;
  loop::Expr chunks;  // how many there are; the kernel's parallel loop runs over them
  // Whether this member of a chunk stores the structure of the result; null if chunks have one
  // member.
  loop::Expr stores_structure;
  KernelFacts facts;

 private:
  void find_result();
  void declare_tensors();
  void declare_levels(const std::string& tensor, const std::vector<std::string>& indices);

  bool is_bound_;
};

}  // namespace tulle::lower
