// Kernels that run a body for each number below a count. The iterations are independent.
#pragma once

#include <functional>
#include <string>

#include "loop/host.h"
#include "lower/emitter.h"
#include "lower/options.h"

namespace tulle::lower {

// Runs `body` for each number in [0, count). All buffers and scalars of the body must have the same
// names in the host program.
struct ForEach {
  std::string kernel;  // the kernel's name, which must be unique
  loop::Expr count;
  std::function<void(Emitter& out, const loop::Expr& number)> body;
};

// Appends the kernel and its launch. A worker of a CPU processes many numbers at a time, a thread
// of a GPU one. For short bodies.
void launch_each(const ForEach& each, const Options& options, loop::HostProgram& program);

// Makes only the kernel. Its launch needs no other steps. Workers and threads process the values of
// `number` one by one, so bodies may contain loops. `names` are the names in the body.
loop::Kernel kernel_for_each(const ForEach& each, const std::string& number, const Options& options,
                             loop::FreshNames& names);
// The same for a count that is only known on the device, at most `most`. A fixed number of threads
// processes the numbers in turn.
loop::Kernel kernel_for_some(const ForEach& each, const std::string& number, const loop::Expr& most,
                             const Options& options, loop::FreshNames& names);

}  // namespace tulle::lower
