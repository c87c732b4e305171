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

// order[0..length) becomes the permutation that sorts the keys, the first the most significant;
// equal ones keep their order. Linear in the length. A UserError if there is no memory for the
// copies.
void sort_permutation(int64_t* order, const std::vector<SortKey>& keys, int64_t length,
                      Parallelism& parallelism);

}  // namespace tulle::runtime
