// What loops, workspaces and copies ask of the rest of a kernel's lowering.
#pragma once

#include "lower/kernel_context.h"

namespace tulle::lower {

class StatementLowering {
 public:
  virtual ~StatementLowering() = default;

  // Lowers a statement at a point of the kernel.
  virtual void lower(const nest::Stmt& stmt, const KernelScope& scope, Emitter& out) = 0;
  // Resolves every level of the statement's operands whose coordinate is known, by arithmetic or by
  // searching, and lowers `body` there.
  virtual void settle(const nest::Stmt& stmt, KernelScope scope, Emitter& out,
                      const Body& body) = 0;
};

}  // namespace tulle::lower
