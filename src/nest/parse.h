// Parses the text of a nest.
#pragma once

#include <string_view>

#include "nest/nest.h"

namespace tulle::nest {

// Reads what to_string writes; UserError with the place where the text is wrong. Accesses are
// numbered in the order of the text, and types of expressions follow from the tensors. The nest
// that comes back is verified.
//
//   nest {
//     operand A: f32, i32, csr    // type, index type (i64 if left out), format (dense)
//     result C: f32, like A       // the pattern of A; `tracked` for such workspaces
//     extent k = 128
//     var k0 = k / 64             // and k % 64, and (i, j) for a fused variable
//     var j0 = A(j) / 32          // and A(j) % 32: of the entries of A in a row
//     prefetch B 16
//     nontemporal C
//     forall i parallel(nnz) {    // parallel(rows), parallel(merge), vector(16), unrolled(2),
//                                 // unrolled, block, warp, lane, thread
//       where acc { forall k { C[i,k] = acc[k] } } producing { ... }
//     }                           // sequence { ... }; numbers may have a type, 0:bool
//   }
Nest parse_nest(std::string_view text);

}  // namespace tulle::nest
