// Loads one element of an operand for a copy.
#pragma once

#include <functional>

#include "lower/statement_lowering.h"

namespace tulle::lower {

// Keeps references to its arguments.
class ElementCopies {
 public:
  using Put = std::function<void(const loop::Expr& value, Emitter& out)>;

  ElementCopies(KernelContext& kernel, StatementLowering& statements)
      : kernel_(kernel), statements_(statements) {}

  // Loads element number `element` of the copy that `assign` fills and passes the value to `put`.
  void load(const nest::Assign& assign, const loop::Expr& element, const KernelScope& scope,
            Emitter& out, const Put& put);

 private:
  // The scope with the coordinates of the element.
  KernelScope at_element(const nest::Assign& assign, const loop::Expr& element, KernelScope scope,
                         Emitter& out) const;

  KernelContext& kernel_;
  StatementLowering& statements_;
};

}  // namespace tulle::lower
