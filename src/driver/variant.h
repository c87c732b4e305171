// A program compiled for operands of one kind, and where its parameters come from.
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

// Serves operands that are alike: the same extents where kernels are specialised to them, sizes and
// counts of the same magnitude, the same locality.
struct Variant {
  struct Guard {
    size_t index;  // number of an index
    int64_t extent;
  };
  uint64_t signature = 0;
  std::vector<Guard> guards;  // extents that are constants of the kernels
  Executable executable;
  std::vector<ArraySource> arrays;
  std::vector<ScalarSource> scalars;
  const Variant* next = nullptr;
  std::vector<schedule::Schedule> tuned;  // of its request
  // How many plans had been kept when that was last looked up.
  mutable std::atomic<uint64_t> plans_kept = 0;

  // Whether the guards hold.
  bool serves(const std::vector<int64_t>& extents) const;

  // Finds where each parameter of the executable comes from, by its name. `indices` are numbered as
  // their extents will be.
  void bind(const std::vector<TensorSpec>& operands, const std::vector<std::string>& indices,
            const expr::ResolvedProgram& program);

  // The parameters of one run, in order.
  void read_arguments(const std::vector<TensorView>& views, const std::vector<int64_t>& extents,
                      int threads, std::vector<void*>& buffers,
                      std::vector<int64_t>& scalar_values) const;
};

}  // namespace tulle
