// The names of tensors' arrays and indices' extents in a host program.
#pragma once

#include <string>
#include <vector>

#include "expr/program.h"
#include "loop/expr.h"

namespace tulle::lower {

// The values are `A`, the positions and coordinates of level 1 `A.pos1` and `A.crd1` (`A.bits1` for
// marks). Null for arrays that the level does not store.
struct TensorBuffers {
  loop::Buffer values;
  std::vector<loop::Buffer> pos;
  std::vector<loop::Buffer> crd;
};

TensorBuffers buffers_of(const std::string& tensor, const expr::TensorType& type);

// The host scalar with the extent of a source variable: i.extent.
std::string extent_name(const std::string& variable);
// The host scalar with the number of an operand's stored values: A.count.
std::string count_name(const std::string& tensor);
// The number of coordinates in the first level of a tensor, for formats with counts_stored.
std::string stored_name(const std::string& tensor);
bool counts_stored(const Format& format);
// The host scalar with the number of chunks for a result.
std::string chunks_name(const std::string& result);
// The host scalar with the number of workers.
inline constexpr const char* kThreads = "caller.threads";

}  // namespace tulle::lower
