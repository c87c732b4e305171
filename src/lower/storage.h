// The names that a tensor's arrays and an index's extent have in a host program.
#pragma once

#include <string>
#include <vector>

#include "expr/program.h"
#include "loop/expr.h"

namespace tulle::lower {

// Values `A`; positions and coordinates of level 1 `A.pos1`, `A.crd1` (`A.bits1` where it stores
// marks), null where the level stores none.
struct TensorBuffers {
  loop::Buffer values;
  std::vector<loop::Buffer> pos;
  std::vector<loop::Buffer> crd;
};

TensorBuffers buffers_of(const std::string& tensor, const expr::TensorType& type);

// The host scalar that holds the extent of a source variable: i.extent.
std::string extent_name(const std::string& variable);
// The host scalar that holds how many values an operand stores: A.count.
std::string count_name(const std::string& tensor);
// How many coordinates the first level of a tensor stores, for formats that can be asked
// (counts_stored).
std::string stored_name(const std::string& tensor);
bool counts_stored(const Format& format);
// The host scalar that holds how many chunks the computation of a result is cut into.
std::string chunks_name(const std::string& result);
// The host scalar that holds how many workers there are.
inline constexpr const char* kThreads = "caller.threads";

}  // namespace tulle::lower
