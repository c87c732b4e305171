// The coordinates that a format stores in addition to given entries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expr/program.h"
#include "format/format.h"

namespace tulle::expr {

// The coordinate of each level for a coordinate of the tensor.
std::vector<int64_t> level_coordinates(const Format& format,
                                       const std::vector<int64_t>& coordinates);

// The number of levels down to the last one that stores coordinates; the levels below are full.
int sparse_level_count(const Format& format);

// Whether a tensor in this format may store more than its entries, such as the rest of a block.
bool stores_padding(const Format& format);

// Whether the result of a statement may store more in this format than the entries of its value and
// of operands in the same format. It does not if each entry comes with all coordinates of the full
// levels: E[i,j,h] = within(A[i,j], ...) with a dense level of h inside.
bool adds_padding(const Statement& statement, const std::map<std::string, TensorType>& tensors,
                  const Format& format);

// The entries and the padding of levels that store every coordinate, a band or whole rows, such as
// the rest of a block. Argument and result have one element per coordinate, in row-major order.
std::vector<bool> with_padding(const Format& format, const std::vector<int64_t>& sizes,
                               const std::vector<bool>& entries);

}  // namespace tulle::expr
