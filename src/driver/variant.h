// A program compiled for similar operands, and the sources of its parameters.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "tulle/tulle.h"

namespace tulle {

// An array of an operand.
struct ArraySource {
  enum class Kind : uint8_t { Pos, Crd, Values };
  int operand;
  Kind kind;
  int level;
};

struct ScalarSource {
  enum class Kind : uint8_t { Threads, Extent, Count, Length };
  Kind kind;
  int at;  // index number, operand or buffer parameter
};

// Serves similar operands: equal extents if kernels are specialised to them, sizes and counts of
// the same magnitude, equal locality.
struct Variant {
  struct Guard {
    size_t index;  // number of an index
    int64_t extent;
  };
  uint64_t signature = 0;
  std::vector<Guard> guards;  // extents that are constants in the kernels
  Executable executable;
  std::vector<ArraySource> arrays;
  std::vector<ScalarSource> scalars;
  const Variant* next = nullptr;
  std::vector<schedule::Schedule> tuned;  // the tuned schedules of its request
  // `tuned_plan_changes()` at the last look-up.
  mutable std::atomic<uint64_t> plan_changes = 0;

  // Whether the guards hold for these extents.
  bool serves(const std::vector<int64_t>& extents) const;

  // Finds the source of each parameter of the executable by its name. `indices` have the order of
  // the extents.
  void bind(const std::vector<TensorSpec>& operands, const std::vector<std::string>& indices,
            const expr::ResolvedProgram& program);

  // Reads the parameters of a run, in order.
  void read_arguments(const std::vector<TensorView>& views, const std::vector<int64_t>& extents,
                      int threads, std::vector<void*>& buffers,
                      std::vector<int64_t>& scalar_values) const;
};

}  // namespace tulle
