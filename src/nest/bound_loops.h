// Loops bound to the parts of a GPU: the sizes they require, and how threads combine their results.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// Whether any loop is bound to a part of a GPU.
bool has_bound_loops(const Stmt& stmt);
// The variables of loops bound to members of a chunk, outermost first.
std::vector<std::string> member_variables(const Nest& nest);
// Whether several blocks or threads add to the same element of the result, by atomics.
bool adds_up_by_atomics(const Nest& nest);
// The number of lanes that share an iteration of the loops over `var`, which are bound to lanes:
// the number of iterations of the lane loops inside them, or 1.
int64_t lanes_inside(const Nest& nest, const std::string& var);
// The number of lanes that the lane loops of a statement require, or 1.
int64_t lanes_of(const Nest& nest, const Stmt& stmt);
// The number of warps and of threads that the loops bound to a block require, or 1.
int64_t warps_of_block(const Nest& nest);
int64_t threads_of_block(const Nest& nest);

// Whether the loop sums the partial sums of its iterations from a workspace: acc += part[var].
bool adds_up_parts(const Forall& loop, const Nest& nest);
// Whether the loop merges the tuples of its iterations, one workspace after the other.
bool merges_tuples(const Forall& loop, const Nest& nest);
// Whether the loop sums parts or merges tuples and is bound to a part of a block: the threads then
// combine their values.
bool combines(const Forall& loop, const Nest& nest);
// Whether a loop in the statement does so.
bool combines_within(const Stmt& stmt, const Nest& nest);

}  // namespace tulle::nest
