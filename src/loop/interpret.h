// Interprets host programs and reports races, invalid accesses and reads of unwritten memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "loop/host.h"

namespace tulle::loop {

// The elements of a buffer, contiguous.
struct Array {
  DType element;
  std::vector<std::byte> bytes;

  int64_t size() const { return static_cast<int64_t>(bytes.size()) / size_of(element); }
};

// Conversions between arrays and vectors of the C++ type of the elements.
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
      int64_t{1} << 26;  // over all loops of a launch; more are reported as an endless loop
};

// Verifies the program and runs it on one array or scalar per parameter. Returns the results and
// the writable parameters. A fault of the program raises an InternalError that names kernel,
// buffer, index and size; invalid inputs raise a UserError. Iterations of a parallel loop run in
// sequence, and so do blocks; the threads of a block run in lockstep. Two unordered accesses to one
// element, one of them a plain write, are reported as a race even if the result is correct. f32 is
// rounded after every operation, integers wrap.
Arrays interpret(const HostProgram& program, Arrays buffers, const Scalars& scalars,
                 const InterpretOptions& options = {});

}  // namespace tulle::loop
