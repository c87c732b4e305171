// Copies an operand before its use.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// In every iteration of the loop over `loop`, first copies the elements of the operand that the
// statements inside read. The statements then read the copy:
//
//   forall i { forall j { forall d { acc += A[i,j] * Q[i,d] * K[j,d] } } }
//   -> forall i { where Q.staged { forall j { forall d { acc += A[i,j] * Q.staged[d] * K[j,d] } } }
//                 producing { forall d { Q.staged[d] = Q[i,d] } } }
//
// The copy runs over the inner loops over indices of the operand. With staging in registers, each
// thread copies the elements that its own iterations read, or all elements if it reads from a copy
// in shared memory. On a CPU the copy is a local array. With staging in shared memory, the threads
// of a block fill one copy together, or the threads of a warp if `loop` is inside a loop over
// warps. Barriers surround the copy.
//
// A depth above 1 makes that many copies, and loads those of later iterations while the nest uses
// one.
//
// Refuses if the operand is not dense or not read there, if its inner loops have no known extent or
// visit entries by number, and if the copy is too large. In shared memory, also refuses if `loop`
// is not inside blocks, or inside a loop over lanes or threads. If the nest reads the operand
// several times, X[i,d] * X[j,d], and some reads cannot be copied, the others are. A remark names
// the reads that are not copied and the reason.
Result<nest::Nest> stage(const nest::Nest& nest, const Stage& step, Remarks* remarks = nullptr);

}  // namespace tulle::schedule
