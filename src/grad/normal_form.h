// The normal form of a program, on which the rules of derivatives work.
#pragma once

#include "expr/program.h"
#include "grad/names.h"

namespace tulle::grad {

// Cuts the statements of a program so that each is of one of these kinds:
// - a softmax of an expression without reductions,
// - another reduction than a sum, of an expression without reductions,
// - an expression whose only reductions are sums, each in a place in which the value is linear.
// The last two kinds may be inside of within().
//
// The statements cut out are computed where the context has a value only. So a sum inside of
// A[i,j] * exp(sum(k, ...)) gets the entries of A. A dense intermediate all of whose uses are
// inside of one mask is computed within that mask, too.
//
// The result is resolved for the operands of `program` and has its results, in their formats. No
// two reductions of a statement bind an index of the same name.
expr::ResolvedProgram normal_form(const expr::ResolvedProgram& program, Names& names);

}  // namespace tulle::grad
