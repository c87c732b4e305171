// Kernels without program-specific names.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// The same kernel with parameters and local names numbered by position. The kernel's own name keeps
// its first word without numbers, so that profiles show the purpose of the kernel. Kernels that
// differ only in names get the same text and are compiled once.
Kernel with_plain_names(const Kernel& kernel);

}  // namespace tulle::loop
