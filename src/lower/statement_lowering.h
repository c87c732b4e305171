// The interface through which loops, workspaces and copies lower statements.
#pragma once

#include "lower/kernel_context.h"

namespace tulle::lower {

class StatementLowering {
 public:
  virtual ~StatementLowering() = default;

  // Lowers a statement at a point of the kernel.
  virtual void lower(const nest::Stmt& stmt, const KernelScope& scope, Emitter& out) = 0;
  // Resolves every level of the statement's operands with a known coordinate, by arithmetic or by a
  // search. Lowers `body` there.
  virtual void settle(const nest::Stmt& stmt, KernelScope scope, Emitter& out,
                      const BodyLowering& body) = 0;
};

}  // namespace tulle::lower
