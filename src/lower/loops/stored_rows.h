// The rows of an operand's entries, for chunks of rows and entries.
#pragma once

#include "lower/kernel_context.h"

namespace tulle::lower {

// The first position of a row, in an array of a compressed level.
loop::Expr position_of(const loop::Buffer& positions, const loop::Expr& row);
// The work before a row: the number of rows before it plus their entries. It ascends strictly.
// Entry p of row i is number p + i of the work.
loop::Expr work_before(const loop::Buffer& positions, const loop::Expr& row);

// The rows that chunks of rows or entries consist of.
StoredRows stored_rows(const KernelContext& kernel, const nest::Variable& variable);
// The number of the chunk of rows or entries that the variable runs through.
loop::Expr chunk_around(const KernelContext& kernel, const nest::Variable& variable,
                        const KernelScope& scope);
// Makes these arrays available to the kernel.
void derive(KernelFacts& facts, Derived derived);

}  // namespace tulle::lower
