// Kernels that do something for each number below another.
#pragma once

#include <functional>
#include <string>

#include "loop/host.h"
#include "lower/emitter.h"
#include "lower/lower.h"

namespace tulle::lower {

// Appends a kernel of that name, which no other one has, and its launch: `body` for each number in
// [0, count), which are independent of each other, on the workers of a CPU or a thread of a GPU
// each. What it reads and writes is known to the host program by the same names.
void launch_each(const std::string& name, const loop::Expr& count,
                 const std::function<void(Emitter&, const loop::Expr&)>& body,
                 loop::HostProgram& program, Backend backend);

}  // namespace tulle::lower
