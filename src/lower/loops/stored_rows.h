// The rows along which an operand stores its entries, as chunks of rows and entries see them.
#pragma once

#include "lower/kernel_context.h"

namespace tulle::lower {

// Where the entries of a row begin, in an array of a compressed level.
loop::Expr position_of(const loop::Buffer& positions, const loop::Expr& row);
// The work before a row: that of the rows before it, each with its entries and itself. Strictly
// ascending. Entry p of row i is number p + i of the work.
loop::Expr work_before(const loop::Buffer& positions, const loop::Expr& row);

// The rows that chunks of rows or entries consist of.
StoredRows stored_rows(const KernelContext& kernel, const nest::Variable& variable);
// The number of the chunk of rows or entries whose part the variable goes through.
loop::Expr chunk_around(const KernelContext& kernel, const nest::Variable& variable,
                        const KernelScope& scope);
// Lets the kernel read these arrays.
void derive(KernelFacts& facts, Derived derived);

}  // namespace tulle::lower
