// Kernels that do something for each number below another, independently of the other numbers.
#pragma once

#include <functional>
#include <string>

#include "loop/host.h"
#include "lower/emitter.h"
#include "lower/options.h"

namespace tulle::lower {

// Runs `body` for each number in [0, count). The host program knows all buffers and scalars of the
// body under the same names.
struct ForEach {
  std::string kernel;  // its name, which no other kernel has
  loop::Expr count;
  std::function<void(Emitter& out, const loop::Expr& number)> body;
};

// Appends the kernel and its launch. A worker of a CPU takes many numbers at a time, a thread of a
// GPU one: for bodies that are short.
void launch_each(const ForEach& each, const Options& options, loop::HostProgram& program);

// The kernel alone. Its launch needs no other steps. Workers and threads take the values of
// `number` one by one: for bodies that contain loops. `names` are those that the body uses.
loop::Kernel kernel_for_each(const ForEach& each, const std::string& number, const Options& options,
                             loop::FreshNames& names);
// The same for a count that only the device knows, at most `most`: a fixed number of threads takes
// numbers in turn.
loop::Kernel kernel_for_some(const ForEach& each, const std::string& number, const loop::Expr& most,
                             const Options& options, loop::FreshNames& names);

}  // namespace tulle::lower
