// The stable lexicographic sort of a sort step.
#pragma once

#include <cstdint>
#include <vector>

#include "support/parallelism.h"
#include "tulle/dtype.h"

namespace tulle::runtime {

struct SortKey {
  const void* data;
  DType element;  // i32 or i64
};

// order[0..length) becomes the permutation that sorts the keys, the first of which is the most
// significant. The sort is stable and linear in the length. Raises a UserError if memory for the
// copies cannot be allocated.
void sort_permutation(int64_t* order, const std::vector<SortKey>& keys, int64_t length,
                      Parallelism& parallelism);

}  // namespace tulle::runtime
