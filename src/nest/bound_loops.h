// Loops that are bound to the parts of a GPU: what they ask for, and how parts combine what they
// have.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// Whether any loop is bound to a part of a GPU.
bool has_bound_loops(const Stmt& stmt);
// The variables of loops that are bound to members of a chunk, outermost first.
std::vector<std::string> member_variables(const Nest& nest);
// Whether several blocks or threads add to one element of the result, by atomics.
bool adds_up_by_atomics(const Nest& nest);
// How many lanes share an iteration of the loops over `var`, which are bound to lanes: as many as
// the loops over lanes inside them have iterations, 1 where there are none.
int64_t lanes_inside(const Nest& nest, const std::string& var);
// How many lanes the loops over lanes in a statement ask for: 1 where there are none.
int64_t lanes_of(const Nest& nest, const Stmt& stmt);
// How many warps, and how many threads, the loops bound to a block ask for: 1 where none does.
int64_t warps_of_block(const Nest& nest);
int64_t threads_of_block(const Nest& nest);

// Whether the loop adds up what its iterations have summed in a workspace: acc += part[var].
bool adds_up_parts(const Forall& loop, const Nest& nest);
// Whether it merges tuples that its iterations have gathered, one workspace of them after the
// other.
bool merges_tuples(const Forall& loop, const Nest& nest);
// Whether the loop adds up parts or merges tuples and is bound to a part of a block: the threads
// combine theirs.
bool combines(const Forall& loop, const Nest& nest);
// Whether a loop in the statement does.
bool combines_within(const Stmt& stmt, const Nest& nest);

}  // namespace tulle::nest
