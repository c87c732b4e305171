// Runs host programs without compiling them and reports races, bad accesses and unwritten memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "loop/host.h"

namespace tulle::loop {

// The elements of a buffer, one after the other.
struct Array {
  DType element;
  std::vector<std::byte> bytes;

  int64_t size() const { return static_cast<int64_t>(bytes.size()) / size_of(element); }
};

// Between arrays and vectors of the C++ type that belongs to the element type.
template <typename T>
Array to_array(DType element, const std::vector<T>& values) {
  Array array{element, std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

template <typename T>
std::vector<T> to_vector(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

using Scalar = std::variant<int64_t, double>;
using Arrays = std::map<std::string, Array>;
using Scalars = std::map<std::string, Scalar>;

struct InterpretOptions {
  int64_t most_steps =
      int64_t{1}
      << 26;  // of all loops of a launch together; more are reported as a loop without end
};

// Verifies the program and runs it on one array and one scalar for each parameter; hands back the
// results and the parameters that may be written. What the program does wrong is an InternalError
// that names kernel, buffer, index and size; what is wrong with the inputs is a UserError.
//
// Iterations of a parallel loop run in turn, and so do blocks; the threads of a block run in step.
// Two accesses to one element that nothing orders, one of them a plain write, are reported as a
// race, whatever came of it. f32 is rounded after every operation, integers wrap.
Arrays interpret(const HostProgram& program, Arrays buffers, const Scalars& scalars,
                 const InterpretOptions& options = {});

}  // namespace tulle::loop
