// The names that statements, expressions and kernels use.
#pragma once

#include <set>
#include <string>

#include "loop/host.h"

namespace tulle::loop {

// The names that a statement binds or assigns to, at any depth: variables of every kind, but not
// buffers.
std::set<std::string> names_written(const Stmt& stmt);

// The names that an expression reads.
std::set<std::string> names_read(const Expr& expr);

// The names of the buffers that the kernel only reads.
std::set<std::string> read_only_buffers(const Kernel& kernel);

// The names of all parameters, variables and buffers of the kernel.
std::set<std::string> names_of(const Kernel& kernel);

}  // namespace tulle::loop
