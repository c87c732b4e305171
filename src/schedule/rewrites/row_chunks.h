// Shared by the rewrites that cut the rows of an operand into chunks.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// The loop over `kind.parent`, the rows of an operand stored as CSR, becomes one over chunks with
// one over the rows of a chunk in it; `kind` says what chunks there are. Refused in the name of
// `step` where the statement is no plain sum or product over the entries of that operand, or where
// it is no dense result's first index.
Result<nest::Nest> split_into_chunks(const nest::Nest& nest, const std::string& step,
                                     const nest::Variable& kind, const std::string& chunk,
                                     const std::string& row);

// Refuses unless loops over the rows or the entries of a chunk stand in one over chunks.
Result<> require_chunks_around_rows(const nest::Nest& nest);
// Refuses unless workspaces for dealt rows are filled piece by piece.
Result<> require_pieces_apart(const nest::Nest& nest);

}  // namespace tulle::schedule
