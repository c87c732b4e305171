// The prepared form of a host program: its steps with slots instead of names.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "loop/abi.h"
#include "loop/host.h"
#include "runtime/scalar_code.h"

namespace tulle::runtime {

struct ComputeAction {  // a scalar
  int scalar;
  ScalarCode value;
};

struct AllocateAction {
  int buffer;
  int result;  // its index, -1 for a temporary
  loop::Buffer node;
  ScalarCode size;
  bool zeroed;
};

struct LaunchAction {
  std::string name;
  size_t kernel;                                // its index in the program
  loop::KernelFunction function;                // null on a GPU
  std::vector<int> buffers = {}, scalars = {};  // slots of the kernel's parameters
  bool parallel = false;
  ScalarCode begin = {}, end = {};  // of the parallel or block loop
  int64_t step = 1;

  bool operator==(const LaunchAction&) const = default;
};

struct ScanAction {
  int buffer;
  loop::Buffer node;
  ScalarCode length;
};

struct ReadAction {
  int scalar;
  int buffer;
  DType element;
  ScalarCode index;
  loop::ReadStep step;  // for its limit
};

struct SortAction {
  int order;
  std::vector<int> keys;
  std::vector<DType> elements;
  ScalarCode length;
};

struct ReleaseAction {
  int buffer;
};

// The actions up to the KeptAction at `end` compute the arrays in these slots.
struct KeepAction {
  std::string what;
  std::string tensor;
  std::vector<int> arrays = {};
  size_t end = 0;
};

struct KeptAction {};

using Action = std::variant<ComputeAction, AllocateAction, LaunchAction, ScanAction, ReadAction,
                            SortAction, ReleaseAction, KeepAction, KeptAction>;

struct PreparedProgram {
  size_t buffer_parameters, scalar_parameters;
  size_t buffers = 0, scalars = 0;  // slots; the parameters come first
  std::vector<Action> actions;
  std::vector<int> results;  // slots
};

// Resolves names and compiles sizes, under the contract of CompiledProgram's constructor. Without
// `kernels`, prepares for a GPU, where launches use kernel indices.
PreparedProgram prepare_program(const loop::HostProgram& program,
                                const std::vector<loop::KernelFunction>& kernels);

}  // namespace tulle::runtime
