// Checks that a tree is a legal loop-IR program; run after every stage in tests.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// Raise an InternalError that quotes the offending text. Legal means:
//  - names are declared once and not shadowed, used where they are visible and with the type they
//  were declared with;
//  - operators, functions, loads and stores have operands of fitting types; stores go to writable
//  buffers;
//  - a parallel loop is the last statement of the kernel, after lets only, and so is a block loop;
//  - warp, lane and thread loops have constant bounds and nest block > warp > lane or block >
//  thread;
//  - barriers and lane operations stand where all threads that take part arrive together;
//  - local and shared allocations have a constant size;
//  - each launch finds every parameter of its kernel in the host program, with its type and allowed
//  to write to it.
void verify(const Kernel& kernel);
void verify(const HostProgram& program);

}  // namespace tulle::loop
