// Data shared by the parts of one kernel's lowering: the nest, its tensors in this kernel, the used
// names, and the facts found so far.
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
using BodyLowering = std::function<void(const KernelScope&, Emitter&)>;

// The location of a tensor's values. A scalar workspace is a variable instead of a buffer.
struct ValuePlace {
  loop::Buffer values;
  loop::Expr base;  // position of the worker's first value; null: 0
  loop::Expr scalar;
  std::vector<std::unique_ptr<LevelCode>> levels;
};

// The code of a tensor in this kernel.
struct TensorCode : ValuePlace {
  std::unique_ptr<TrackedArrays> tracked;
  int64_t elements = 1;   // number of elements of a thread's array, if constant
  loop::Expr size;        // number of elements of an array
  bool is_ahead = false;  // a copy that the loop around has already made
  Lead lead;              // if it leads a tuple: the effect of its last term
  loop::Expr written;     // mutable bool: whether a scalar workspace was assigned; null: unused

  // Whether it is a tracked workspace with a block of values at each coordinate.
  bool has_blocks() const { return tracked && tracked->block; }
};

// The points of merge lattices have more bodies than the limit.
struct TooManyBodies {};

struct KernelContext {
  // For a nest with one result. Reserves the names of its tensors and extents.
  KernelContext(const nest::Nest& n, KernelRequest r);
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;

  // Whether the kernel builds a sparse result.
  bool assembles() const { return phase == Phase::Count || phase == Phase::Fill; }
  // Whether loops of the nest are bound to a GPU, so that there are no chunks.
  bool is_bound() const { return is_bound_; }
  // The target of the kernel: a GPU if its loops are bound to one.
  const Options& options() const { return request.options; }
  bool on_gpu() const { return request.options.on_gpu(); }
  // Whether the points of a merge lattice share a body.
  bool has_one_body() const { return request.one_body; }
  // Counts the operations of a lowered assignment. Throws TooManyBodies if each point of a merge
  // lattice has a body of its own and the operations exceed the limit.
  void count_operations(const expr::Expr& value);
  void count_operations(int64_t operations);
  // Throws TooManyBodies if each point of a merge lattice has a body of its own.
  void require_one_body() const;

  TensorCode& code(const std::string& tensor) { return tensors.at(tensor); }
  const TensorCode& code(const std::string& tensor) const { return tensors.at(tensor); }
  // The first unresolved level of the access.
  const Level& level(const Cursor& cursor) const;
  const LevelCode& level_code(const Cursor& cursor) const;
  // Whether the workspace is a copy of an operand.
  bool is_staged(const std::string& workspace) const;

  // Calls `body` for each element of a workspace that the thread has, with its number and value.
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
  loop::Expr chunks;  // the number of chunks; the kernel's parallel loop runs over them
  // Whether this member of a chunk stores the structure of the result. Null if chunks have one
  // member.
  loop::Expr stores_structure;
  KernelFacts facts;

 private:
  void find_result();
  void declare_tensors();
  void declare_levels(const std::string& tensor, const std::vector<std::string>& indices);

  bool is_bound_;
  int64_t operations_ = 0;
};

}  // namespace tulle::lower
