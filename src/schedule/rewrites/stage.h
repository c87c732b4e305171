// Copies an operand close to its use.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// In every iteration of the loop over `loop`, what the statements inside read of the operand is
// copied first, and they read the copy:
//
//   forall i { forall j { forall d { acc += A[i,j] * Q[i,d] * K[j,d] } } }
//   -> forall i { where Q.staged { forall j { forall d { acc += A[i,j] * Q.staged[d] * K[j,d] } } }
//                 producing { forall d { Q.staged[d] = Q[i,d] } } }
//
// The copy is over the loops inside over indices of the operand. In registers every thread has its
// own, of what its own iterations read, which is all of it where a copy in shared memory is filled
// from it; on a CPU that is a local array. In shared memory the threads of a block make one
// together, or those of a warp where `loop` is inside a loop over warps; barriers stand before and
// after.
//
// With a depth above 1 there are as many copies: those of further iterations are loaded while one
// is used.
//
// Refused where the operand is not dense or not read there, where its loops inside have no known
// extent or visit entries by their number, where the copy is too large, and in shared memory where
// `loop` is not inside blocks or is inside a loop over lanes or threads. Where the operand is read
// several times, X[i,d] * X[j,d], and some of that cannot be copied for its loops, the rest is, and
// a remark says which is not and why.
Result<nest::Nest> stage(const nest::Nest& nest, const Stage& step, Remarks* remarks = nullptr);

}  // namespace tulle::schedule
