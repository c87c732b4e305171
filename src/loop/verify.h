// Checks that a tree is a legal loop-IR program. Tests run it after every stage.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// Raise an InternalError that quotes the offending text. Legal means:
// - names are declared once, not shadowed, and used where they are visible with their type;
// - operands have fitting types, and stores go to writable buffers;
// - a parallel or block loop is the last statement of the kernel, after lets only;
// - warp, lane and thread loops have constant bounds; block > warp > lane or block > thread;
// - barriers and lane operations are only where all participating threads arrive together;
// - local and shared allocations have a constant size;
// - a launch finds every parameter of its kernel, with its type, writable if the kernel writes it.
void verify(const Kernel& kernel);
void verify(const HostProgram& program);
// Verifies the host program's steps but not the kernels.
void verify_steps(const HostProgram& program);

}  // namespace tulle::loop
