// A program with the layouts needed to bind tensors to it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tulle/tulle.h"

namespace tulle::shim {

// The place of an array of a tensor: the positions or the coordinates of a level.
struct ArrayPlace {
  size_t level = 0;
  bool is_pos = false;
  DType type = DType::Int64;
};

// The tensors of an operand or a result: its structure arrays in this order, then its values. A
// plain one is a row-major dense tensor, whose shape gives the sizes. Any other has a vector of
// values, and its sizes are passed separately. A composite one has the arrays of its parts one
// after the other and one vector of values, in which each part begins at a multiple of kPartStep;
// the numbers of values of its parts follow its sizes.
struct TensorLayout {
  TensorSpec spec;
  bool is_plain = false;
  bool is_asked_for = false;  // for a result: whether the caller chose its format
  std::string long_form;      // of the format
  std::vector<LevelInfo> levels;
  std::vector<ArrayPlace> arrays;
  std::vector<TensorLayout> parts;

  // The number of sizes and part lengths passed separately.
  size_t number_count() const { return static_cast<size_t>(spec.rank) + parts.size(); }
};

// Aligns parts like results, for any type of values.
inline constexpr int64_t kPartStep = 64;

TensorLayout layout_of(const TensorSpec& spec);

struct Prepared {
  std::shared_ptr<const Program> program;
  std::vector<TensorLayout> operands, results;
  size_t tensor_count = 0;      // of all operands
  size_t size_count = 0;        // numbers passed separately, for all operands that are not plain
  int64_t structure_count = 0;  // the number of these operands

  // For the program table: the time of the last use, and whether the table still contains the
  // program.
  mutable std::atomic<uint64_t> last_used = 0;
  mutable std::atomic<bool> is_kept = true;
};

// Parses and resolves the program of that key.
std::shared_ptr<const Prepared> prepare(std::string_view key);

}  // namespace tulle::shim
