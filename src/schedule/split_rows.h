// Cuts the rows of an operand into chunks of equally many rows and entries.
#pragma once

#include <optional>

#include "nest/nest.h"

namespace tulle::schedule {

// The loop over `var`, the rows of an operand stored as CSR, becomes one over chunks with one over
// the rows of a chunk in it. A chunk has the rows that begin in it, whole if they have at most
// `length` entries; the entries of longer rows are shared by all chunks that these reach into,
// whose sums are added up by atomics. So no chunk has more than twice `length` to do, however long
// a row is. Refused where the statement is no plain sum or product over the entries of that
// operand, or where it is no dense result's first index.
// With `parts` there are so many chunks, longer ones where `length` would make more.
nest::Nest split_rows(const nest::Nest& nest, const std::string& var, int64_t length,
                      const std::string& chunk, const std::string& row,
                      std::optional<int64_t> parts = {});

// The same, but all rows are cut into pieces of at most `length` entries. There are `parts` times
// `turns` chunks: pieces that lie together and come to an equal share of the work make a part, and
// the chunks of a part take them in turn. Where the pieces are is looked up in arrays that are made
// once for the structure of the operand.
nest::Nest deal_rows(const nest::Nest& nest, const std::string& var, int64_t length,
                     const std::string& chunk, const std::string& row, int64_t parts,
                     int64_t turns);

// UserError unless loops over the rows or the entries of a chunk stand in one over chunks.
void require_chunks_around_rows(const nest::Nest& nest);

}  // namespace tulle::schedule
