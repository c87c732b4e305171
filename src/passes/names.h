// The names of a kernel, and such that nothing in it uses yet.
#pragma once

#include <set>
#include <string>

#include "loop/host.h"

namespace tulle::passes {

class Names {
 public:
  explicit Names(const loop::Kernel& kernel);

  // `wish`, or `wish` followed by the first number that makes it new. It is taken from then on.
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> taken_;
};

// The names of the buffers that the kernel only reads.
std::set<std::string> read_only_buffers(const loop::Kernel& kernel);

// The names a statement binds or assigns to, at any depth: variables of every kind, not buffers.
std::set<std::string> names_written(const loop::Stmt& stmt);

// The names that an expression reads.
std::set<std::string> names_read(const loop::Expr& expr);

}  // namespace tulle::passes
