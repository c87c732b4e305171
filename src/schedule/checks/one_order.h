// Sums that come out the same in every run.
#pragma once

#include <cstdint>

#include "schedule/program.h"

namespace tulle::schedule {

// UserError, pointing at the step, where the schedules of a program leave sums of floating-point
// numbers to atomics, which add them up in another order in every run: those of rows that
// split_rows or deal_rows share among chunks, and those that kernels in one launch add to one
// result. Integers come to the same in any order, and what a second kernel merges has one.
// `finished` is the program after its schedules.
//
// Who asks for it: torch's deterministic algorithms, or the language, by which a CPU gives the same
// bits each time. There, chunks that one thread takes in turn and kernels that follow each other
// have an order.
enum class WantsOneOrder : uint8_t { Caller, Cpu };
void require_one_order(const NestProgram& program, const NestProgram& finished, WantsOneOrder who);

}  // namespace tulle::schedule
