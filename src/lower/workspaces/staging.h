// Copies of operands. Each thread fills its own copy in registers. All threads fill a copy in
// shared memory together.
#pragma once

#include "lower/result/touches.h"
#include "lower/workspaces/element_copies.h"
#include "lower/workspaces/shared_copies.h"
#include "lower/workspaces/workspaces.h"

namespace tulle::lower {

// Keeps references to its arguments.
class Staging {
 public:
  Staging(KernelContext& kernel, Touches& touches, Workspaces& workspaces, SharedCopies& shared,
          ElementCopies& elements, StatementLowering& statements)
      : kernel_(kernel),
        touches_(touches),
        workspaces_(workspaces),
        shared_(shared),
        elements_(elements),
        statements_(statements) {}

  // Makes the copy, unless the loop around has already made it, and lowers the consumer.
  void lower(const nest::Where& where, const KernelScope& scope, Emitter& out);

 private:
  void copy(const nest::Where& where, const KernelScope& scope, Emitter& out);
  void copy_together(const nest::Where& where, const KernelScope& scope, Emitter& out);

  KernelContext& kernel_;
  Touches& touches_;
  Workspaces& workspaces_;
  SharedCopies& shared_;
  ElementCopies& elements_;
  StatementLowering& statements_;
};

}  // namespace tulle::lower
