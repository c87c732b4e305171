// Checks that sums have the same bits in every run.
#pragma once

#include <cstdint>

#include "schedule/program.h"

namespace tulle::schedule {

// Throws a UserError that points at the step if the schedules of a program add floating-point
// numbers by atomics. Atomics add in an order that differs from run to run. This affects the rows
// that split_rows or deal_rows share among chunks, and kernels of one launch that add to one
// result. Sums of integers are exact in any order, and a second kernel merges in a fixed order.
// `finished` is the program after its schedules.
// Either torch's deterministic algorithms require this, or the language: it promises the same bits
// in each run on a CPU. On a CPU, chunks that one thread processes in turn and kernels that run one
// after the other have a fixed order.
enum class WantsOneOrder : uint8_t { Caller, Cpu };
void require_one_order(const NestProgram& program, const NestProgram& finished, WantsOneOrder who);

}  // namespace tulle::schedule
