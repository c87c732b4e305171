// Renames the declarations of a kernel. Derived classes choose the new names.
#pragma once

#include <string>

#include "loop/rewrite.h"

namespace tulle::loop {

// Asks for names in text order; a declaration follows the declarations inside its value. A name
// that is declared twice is requested twice. Buffers are left to `rewrite_buffer`.
class LocalRenaming : public Rewriter {
 public:
  Expr rewrite(const Expr& expr) override;
  Stmt rewrite(const Stmt& stmt) override;

 protected:
  virtual std::string local(const std::string& name) = 0;
  // The replacement of a parameter; null for names that the kernel declares.
  virtual Expr parameter(const Expr& var) const = 0;
};

}  // namespace tulle::loop
