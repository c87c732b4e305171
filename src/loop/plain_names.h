// Kernels without the names that a program gave them.
#pragma once

#include "loop/host.h"

namespace tulle::loop {

// The same kernel with parameters and local names that are called by their place. Of its own name
// the first word is left, without numbers, which says in profiles what it does. What differs in
// names alone becomes the same text, and is compiled once.
Kernel with_plain_names(const Kernel& kernel);

}  // namespace tulle::loop
