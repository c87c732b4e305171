// The elements of a workspace that a thread keeps: if an index is spread over the threads of a
// block, each thread has its own coordinate.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/kernel_context.h"

namespace tulle::lower {

// A workspace over these variables, which the statement fills.
struct OwnElements {
  const nest::Where& where;
  std::vector<std::string> indices;

  // Whether an index is spread over threads; whether all are.
  bool is_spread(const std::string& index) const;
  bool is_spread() const;
  // How many coordinates of an index a thread has, and how many elements.
  loop::Expr extent(const KernelContext& kernel, const std::string& index) const;
  loop::Expr count(const KernelContext& kernel) const;
  // Loops over the elements that a thread has, of the kind that fills them, so that a register
  // stays a register.
  loop::Stmt for_each(KernelContext& kernel,
                      const std::function<loop::Stmt(const loop::Expr& at)>& body) const;
};

}  // namespace tulle::lower
