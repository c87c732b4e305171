// Kernels and the host program, whose steps allocate memory, launch kernels and return results. A
// kernel names its buffers and scalars; a launch binds each name to the host program's buffer or
// scalar of the same name.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "loop/stmt.h"

namespace tulle::loop {

struct BufferParam {
  Buffer buffer;
  bool writable = false;
};

struct ScalarParam {
  std::string name;
  Type type = kIndex;
};

struct Kernel {
  std::string name;
  std::vector<BufferParam> buffers;
  std::vector<ScalarParam> scalars;
  Stmt body;
};

// --- steps, in the order they run ---

struct LetStep {  // a scalar of the host program
  std::string name;
  Expr value;
};

struct AllocateStep {
  Buffer buffer;
  Expr size;  // in elements
  bool zeroed = false;
};

struct LaunchStep {
  std::string kernel;
};

// Exclusive prefix sum of buffer[0..length) in place; buffer[length] becomes the total.
struct ScanStep {
  Buffer buffer;
  Expr length;
};

// name = buffer[index], read back by the host; a scalar of the buffer's element type. If the number
// exceeds `most`, a UserError suggests wider indices, or for wider rows if the number is the length
// of one row.
struct ReadStep {
  std::string name;
  Buffer buffer;
  Expr index;
  int64_t most = INT64_MAX;
  bool of_row = false;
};

// order[0..length) becomes the permutation that sorts the keys, the first of which is the most
// significant. The sort is stable.
struct SortStep {
  Buffer order;  // i64
  std::vector<Buffer> keys;
  Expr length;
};

struct FreeStep {
  Buffer buffer;
};

// The steps from here to the next KeptStep compute arrays that depend only on the structure of the
// operand `tensor`. A runtime may cache these arrays with that structure under the name `what` and
// skip the steps in later runs.
struct KeepStep {
  std::string what;
  std::string tensor;
};

struct KeptStep {
  std::vector<Buffer> arrays;
};

using HostStep = std::variant<LetStep, AllocateStep, LaunchStep, ScanStep, ReadStep, SortStep,
                              FreeStep, KeepStep, KeptStep>;

// Raises the UserError of a ReadStep.
[[noreturn]] void fail_read(const ReadStep& step, int64_t count);

struct HostProgram {
  std::string name;
  std::vector<BufferParam> buffers;  // given by the caller
  std::vector<ScalarParam> scalars;
  std::vector<HostStep> steps;
  std::vector<Buffer>
      results;  // allocated by steps, or parameters that are returned; in the order of the results
  std::vector<Kernel> kernels;

  const Kernel& kernel(const std::string& name) const;
};

}  // namespace tulle::loop
