// Copies of operands in the shared memory of a block, which its threads fill together.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "lower/kernel_context.h"

namespace tulle::lower {

// The layout of a copy and the threads that fill it.
struct SharedCopy {
  const nest::Assign* assign = nullptr;
  int64_t size = 1;    // elements per copy
  int64_t stride = 1;  // distance between consecutive copies of a warp or block
  int64_t threads = 1, rounds = 1;
  bool in_warp = false;
};

// Keeps a reference to the kernel.
class SharedCopies {
 public:
  explicit SharedCopies(KernelContext& kernel) : kernel_(kernel) {}

  // Allocates the workspace that the statement fills, unless it is already allocated, and redirects
  // reads of it.
  SharedCopy allocate(const nest::Where& where, const ThreadPlace& thread);
  // The block's allocations by workspace.
  const std::map<std::string, loop::Stmt>& allocations() const { return allocations_; }

  // The barrier between filling and reading.
  static loop::Stmt barrier_of(const SharedCopy& copy);
  // Calls `one` for each element that a thread copies, with the element's number and the round.
  loop::Stmt for_elements(const SharedCopy& copy,
                          const std::function<void(const loop::Expr& element,
                                                   const loop::Expr& round, Emitter& out)>& one);

 private:
  KernelContext& kernel_;
  std::map<std::string, loop::Stmt> allocations_;
};

}  // namespace tulle::lower
