// The elements of a workspace that a thread keeps. If an index is distributed over the threads of a
// block, each thread has its own coordinate.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/kernel_context.h"

namespace tulle::lower {

// A workspace over these variables that the statement fills.
struct OwnElements {
  const nest::Where& where;
  std::vector<std::string> indices;

  // Whether an index is distributed over threads, and whether all indices are.
  bool is_spread(const std::string& index) const;
  bool is_spread() const;
  // The number of a thread's coordinates of an index, and the number of its elements.
  loop::Expr extent(const KernelContext& kernel, const std::string& index) const;
  loop::Expr count(const KernelContext& kernel) const;
  // Loops over the elements of a thread. They have the kind of the loops that fill the workspace,
  // so that its elements stay in registers.
  loop::Stmt for_each(KernelContext& kernel,
                      const std::function<loop::Stmt(const loop::Expr& at)>& body) const;
};

}  // namespace tulle::lower
