// Structural equality of trees, for tests and caches.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// Equal statements over the same names, types and spaces. A body of one statement equals a Block
// that contains only this statement.
bool same(const Stmt& a, const Stmt& b);
bool same(const Kernel& a, const Kernel& b);
bool same(const HostStep& a, const HostStep& b);
bool same(const HostProgram& a, const HostProgram& b);

}  // namespace tulle::loop
