// The alignment of elements in memory.
#pragma once

#include "llvm/Support/Alignment.h"

#include "tulle/dtype.h"

namespace tulle::codegen {

inline llvm::Align align_of(DType element) {
  return llvm::Align(static_cast<uint64_t>(size_of(element)));
}

}  // namespace tulle::codegen
