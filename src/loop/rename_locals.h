// Renaming what a kernel declares: the part that is the same whatever the new names are.
#pragma once

#include <string>

#include "loop/rewrite.h"

namespace tulle::loop {

// Names are asked for in the order of the text, of a declaration after those in its value; one that
// is declared again is asked for again. Buffers are left to `rewrite_buffer`.
class LocalRenaming : public Rewriter {
 public:
  Expr rewrite(const Expr& expr) override;
  Stmt rewrite(const Stmt& stmt) override;

 protected:
  virtual std::string local(const std::string& name) = 0;
  // What stands for a parameter; null for what the kernel declares.
  virtual Expr parameter(const Expr& var) const = 0;
};

}  // namespace tulle::loop
