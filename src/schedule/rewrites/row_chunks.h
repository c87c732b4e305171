// Code shared by the rewrites that cut the rows of an operand into chunks.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Replaces the loop over `kind.parent`, the rows of a CSR operand, by a loop over chunks and a loop
// over the rows of a chunk inside it. `kind` describes the chunks. Refuses in the name of `step`
// unless the statement is a plain sum or product over the entries of that operand and the loop runs
// over the first index of a dense result.
Result<nest::Nest> split_into_chunks(const nest::Nest& nest, const std::string& step,
                                     const nest::Variable& kind, const std::string& chunk,
                                     const std::string& row);

// Refuses unless every loop over the rows or entries of a chunk is inside a loop over chunks.
Result<> require_chunks_around_rows(const nest::Nest& nest);
// Refuses if several dealt pieces of a row share a workspace.
Result<> require_pieces_apart(const nest::Nest& nest);

}  // namespace tulle::schedule
